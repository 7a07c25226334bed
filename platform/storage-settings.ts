/** Settings of storage: a folder of the home, or a bucket of S3. Credentials are no settings: the AWS SDK finds them itself. */
import { z } from 'zod';
import { yesOrNo } from './setting-types.js';

const BUCKET = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;
/** Prefix without empty parts and without parts that name folders. */
const PREFIX = /^(?!\.{1,2}(\/|$))[^/]+(\/(?!\.{1,2}(\/|$))[^/]+)*\/?$/;

/** Region in requests to a store that is named by its address and has no regions. */
const ANY_REGION = 'us-east-1';

export const storageSettingsShape = {
  /**
   * Where artifacts, logs and large values are stored: `s3://bucket/prefix`, of which the prefix may be left out, or `folder`, which is
   * the folder `storage` of the home. Every server and worker of a namespace needs the same. Default: `folder`.
   */
  storage: z
    .string()
    .refine(
      (text) => text === 'folder' || bucketIn(text) !== undefined,
      'expected "folder", or the bucket of S3 as s3://bucket or s3://bucket/prefix',
    ),
  /** URL of an S3-compatible store, such as `https://minio.example.com`. Default: AWS. */
  storageEndpoint: z
    .string()
    .refine(
      isEndpoint,
      'expected the URL of a store, such as https://minio.example.com:9000, without a path',
    ),
  /**
   * Region of the bucket. Default: that of the AWS SDK (`AWS_REGION`, or the profile's); with `storageEndpoint`, `us-east-1` if there is
   * no other.
   */
  storageRegion: z.string().regex(/^[a-z0-9-]{1,40}$/, 'expected the name of a region, such as eu-central-1'),
  /** Whether the bucket is in the path of URLs instead of in the host name. Default: true with `storageEndpoint`, else false. */
  storagePathStyle: yesOrNo,
  /**
   * Server-side encryption that is asked for with each write: `AES256` (SSE-S3), `aws:kms` with the bucket's key, or `aws:kms=KEY`
   * with the ID or ARN of a key. Default: none is asked for; the bucket's own default applies.
   */
  storageEncryption: z
    .string()
    .regex(
      /^(AES256|aws:kms(=\S+)?)$/,
      'expected AES256, aws:kms, or aws:kms=KEY with the ID or ARN of a key',
    ),
};

type Given = { [Name in keyof typeof storageSettingsShape]?: z.infer<(typeof storageSettingsShape)[Name]> };

export interface StorageSettings {
  storage: string;
  storageEndpoint: string | undefined;
  storageRegion: string | undefined;
  storagePathStyle: boolean;
  storageEncryption: string | undefined;
}

/** The settings with their defaults. @param environment with the variables of the AWS SDK */
export function resolveStorageSettings(given: Given, environment: NodeJS.ProcessEnv): StorageSettings {
  const { storageEndpoint } = given;
  const hasRegion = environment['AWS_REGION'] ?? environment['AWS_DEFAULT_REGION'];
  const region = storageEndpoint !== undefined && !hasRegion ? ANY_REGION : undefined;
  return {
    storage: given.storage ?? 'folder',
    storageEndpoint,
    storageRegion: given.storageRegion ?? region,
    storagePathStyle: given.storagePathStyle ?? storageEndpoint !== undefined,
    storageEncryption: given.storageEncryption,
  };
}

/** Bucket and prefix in the setting `storage`; undefined for a folder. The prefix is empty or ends with `/`. */
export function bucketIn(storage: string): { bucket: string; prefix: string } | undefined {
  const [, bucket, prefix = ''] = BUCKET.exec(storage) ?? [];
  if (bucket === undefined || (prefix !== '' && !PREFIX.test(prefix))) return undefined;
  return { bucket, prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/` };
}

function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash, username } = new URL(text);
  return /^https?:$/.test(protocol) && pathname === '/' && !search && !hash && !username;
}
