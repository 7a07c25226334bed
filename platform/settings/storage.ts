/** Values of storage settings. Credentials aren't settings: the AWS SDK finds them itself. */

const BUCKET = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;
/** Prefix without empty parts and without parts that name folders. */
const PREFIX = /^(?!\.{1,2}(\/|$))[^/]+(\/(?!\.{1,2}(\/|$))[^/]+)*\/?$/;

/** Bucket and prefix in the setting `storage`; undefined for a folder. The prefix is empty or ends with `/`. */
export function bucketIn(storage: string): { bucket: string; prefix: string } | undefined {
  const [, bucket, prefix = ''] = BUCKET.exec(storage) ?? [];
  if (bucket === undefined || (prefix !== '' && !PREFIX.test(prefix))) return undefined;
  return { bucket, prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/` };
}
