/** Storage in a bucket of S3 or a compatible store. A value is an object under its key, written whole. */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type PutObjectCommandInput,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { LonghaulError } from '../../../operations/errors.js';
import { withJitter } from '../../jitter.js';
import { bucketIn } from '../../settings/types.js';
import { StorageError } from '../error.js';
import { storageName, type Storage, type StorageChoice, type StorageSettings } from '../types.js';
import { attemptsOf, isMissingKey, statusOf, storageError } from './errors.js';

const CONNECT_LIMIT_MS = 2_000;
/** Time-out of an attempt with a small body, until the answer begins. */
const ATTEMPT_LIMIT_MS = 5_000;
/** Time-out of an attempt with a part of a large file: 8 MiB over 1.5 Mbit/s. */
const UPLOAD_ATTEMPT_LIMIT_MS = 45_000;
/** Time without any byte before a connection is dropped. */
const IDLE_LIMIT_MS = 8_000;
/** Pauses between attempts stay near 100 ms, with jitter. Callers wait and repeat beyond that. */
const MAX_ATTEMPTS = 3;
/** Larger files are uploaded in parts of at least this size. */
const PART_BYTES = 8 * 1024 * 1024;
/** S3's limit. */
const MAX_PARTS = 10_000;
const CONCURRENT_PARTS = 3;
/** Keys in one DeleteObjects request. */
const DELETED_AT_ONCE = 1_000;
/** Limit of a read until its answer begins, including retries. Callers wait longer for Temporal and storage. */
const READ_LIMIT_MS = 8_000;
/** Slowest upload before an attempt is aborted, in bytes per millisecond. */
const UPLOAD_RATE = 250;
/** S3 answers 409 to a conditional write during another one of the same key. */
const CONFLICT_ATTEMPTS = 5;
const CONFLICT_PAUSE_MS = 100;
/** Metadata that identifies the process's own write. */
const WRITER = 'writer';

/** @param settings with a bucket in `storage` */
export function s3Storage(settings: StorageChoice): Omit<Storage, 'appendPauseMs'> {
  const { client, uploads } = createClients(settings);
  // The prefix precedes each key. It is empty, or ends with `/`.
  const { bucket: Bucket, prefix } = bucketIn(settings.storage!)!;
  const place = { name: storageName(settings), bucket: Bucket, region: settings.storageRegion };
  const of = (key: string) => ({ Bucket, Key: prefix + key });
  const encrypted = encryptionOf(settings.storageEncryption);
  /** Runs a request. Passes on S3's errors for a missing key. */
  const run = async <T>(action: string, request: () => Promise<T>): Promise<T> => {
    try {
      return await request();
    } catch (error) {
      throw isMissingKey(error) ? error : storageError(error, action, place);
    }
  };
  const reading = () => ({ abortSignal: AbortSignal.timeout(READ_LIMIT_MS) });
  const write = (input: Omit<PutObjectCommandInput, 'Bucket'> & { Body: Uint8Array }) =>
    client.send(new PutObjectCommand({ Bucket, ...encrypted, ...input }), {
      requestTimeout: ATTEMPT_LIMIT_MS + input.Body.length / UPLOAD_RATE,
    });
  const head = async (key: string) => {
    try {
      return await run('head', () => client.send(new HeadObjectCommand(of(key)), reading()));
    } catch (error) {
      if (isMissingKey(error)) return undefined;
      throw error;
    }
  };
  const get = async (key: string, range: { from: number; lengthBytes: number } | undefined) => {
    const Range = range && `bytes=${range.from}-${range.from + range.lengthBytes - 1}`;
    try {
      return await run('get', () => client.send(new GetObjectCommand({ ...of(key), Range }), reading()));
    } catch (error) {
      if (isMissingKey(error))
        throw new LonghaulError('not_found', `nothing is stored under ${key}`, { cause: error });
      // The range begins at or after the end.
      if (error instanceof StorageError && statusOf(error.cause) === 416) return undefined;
      throw error;
    }
  };
  return {
    async put(key, bytes) {
      await run('put', () => write({ ...of(key), Body: bytes }));
    },
    async create(key, bytes) {
      const writer = randomUUID();
      for (let attempt = 1; ; attempt += 1) {
        try {
          await write({ ...of(key), Body: bytes, IfNoneMatch: '*', Metadata: { [WRITER]: writer } });
          return true;
        } catch (error) {
          const status = statusOf(error);
          if (status === 409 && attempt < CONFLICT_ATTEMPTS)
            await delay(withJitter(CONFLICT_PAUSE_MS * attempt));
          else if (status !== 412) throw storageError(error, 'create', place);
          // An attempt with a lost answer may have created it.
          else if (attempt === 1 && attemptsOf(error) === 1) return false;
          else return (await head(key))?.Metadata?.[WRITER] === writer;
        }
      }
    },
    async putFile(key, path, signal) {
      signal?.throwIfAborted();
      const { size } = await stat(path);
      if (size <= PART_BYTES) await this.put(key, await readFile(path));
      else {
        const Body = createReadStream(path);
        const partSize = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS));
        const upload = new Upload({
          client: uploads,
          params: { ...of(key), ...encrypted, Body },
          ...{ partSize, queueSize: CONCURRENT_PARTS },
        });
        // Ends the upload once its current parts have ended, and removes them. Upload.abort() waits for neither.
        const cancel = () => Body.destroy(new Error('canceled'));
        signal?.addEventListener('abort', cancel);
        try {
          await run('upload', () => upload.done());
        } catch (error) {
          signal?.throwIfAborted();
          throw error;
        } finally {
          signal?.removeEventListener('abort', cancel);
          Body.destroy();
        }
        const stored = (await head(key))?.ContentLength;
        if (stored !== size)
          throw new StorageError(
            `storage ${place.name}: an upload of ${size} bytes left ${stored ?? 'no'} bytes`,
            { retryable: true },
          );
      }
      await rm(path, { force: true });
    },
    async read(key, range) {
      if (range?.lengthBytes === 0) return Buffer.alloc(0);
      const object = await get(key, range);
      if (!object) return Buffer.alloc(0);
      return run('get', async () => Buffer.from(await object.Body!.transformToByteArray()));
    },
    async stream(key, range) {
      const object = range?.lengthBytes === 0 ? undefined : await get(key, range);
      if (!object) return Readable.from([]);
      const chunksOf = async function* (body: Readable) {
        try {
          yield* body;
        } catch (error) {
          throw storageError(error, 'get', place);
        }
      };
      return Readable.from(chunksOf(object.Body as Readable), { objectMode: false });
    },
    async size(key) {
      return (await head(key))?.ContentLength;
    },
    async about(key) {
      const found = await head(key);
      if (!found) return undefined;
      return {
        sizeBytes: found.ContentLength!,
        version: versionOf(found.ETag),
        changedAt: found.LastModified!,
      };
    },
    async *list(under = '') {
      let ContinuationToken: string | undefined;
      do {
        const page = await run('list', () =>
          client.send(
            new ListObjectsV2Command({ Bucket, Prefix: prefix + under, ContinuationToken }),
            reading(),
          ),
        );
        for (const { Key, Size, LastModified } of page.Contents ?? [])
          // Consoles create empty objects for folders.
          if (!Key!.endsWith('/'))
            yield { key: Key!.slice(prefix.length), sizeBytes: Size!, changedAt: LastModified! };
        ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (ContinuationToken !== undefined);
    },
    async *keys(under) {
      for await (const { key } of this.list(under)) yield key;
    },
    async remove(key) {
      await run('delete', () => client.send(new DeleteObjectCommand(of(key))));
    },
    async removeAll(keys) {
      let batch: string[] = [];
      const flush = async () => {
        const Objects = batch.map((key) => ({ Key: prefix + key }));
        batch = [];
        if (Objects.length === 0) return;
        const { Errors } = await run('delete', () =>
          client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } })),
        );
        const [first] = Errors ?? [];
        if (first) throw storageError(namedError(first), 'delete', place);
      };
      for await (const key of keys) {
        batch.push(key);
        if (batch.length === DELETED_AT_ONCE) await flush();
      }
      await flush();
    },
    async probe() {
      await run('list', () =>
        client.send(new ListObjectsV2Command({ Bucket, Prefix: prefix, MaxKeys: 1 }), reading()),
      );
    },
  };
}

interface S3Clients {
  /** For everything except large files. */
  client: S3Client;
  /** For parts of large files. */
  uploads: S3Client;
}

/** Makes the clients. Credentials come from the SDK's default chain: environment, profiles, web identity, roles. */
function createClients(settings: Partial<StorageSettings>): S3Clients {
  const { storageEndpoint, storageRegion } = settings;
  const config: S3ClientConfig = {
    ...(storageEndpoint === undefined ? {} : { endpoint: storageEndpoint, forcePathStyle: true }),
    ...(storageRegion === undefined ? {} : { region: storageRegion }),
    maxAttempts: MAX_ATTEMPTS,
    retryMode: 'standard',
  };
  const clientWith = (requestTimeout: number) =>
    new S3Client({
      ...config,
      requestHandler: {
        connectionTimeout: CONNECT_LIMIT_MS,
        requestTimeout,
        throwOnRequestTimeout: true,
        socketTimeout: IDLE_LIMIT_MS,
      },
    });
  return { client: clientWith(ATTEMPT_LIMIT_MS), uploads: clientWith(UPLOAD_ATTEMPT_LIMIT_MS) };
}

function encryptionOf(
  encryption: string | undefined,
): Pick<PutObjectCommandInput, 'ServerSideEncryption' | 'SSEKMSKeyId'> {
  if (encryption === undefined) return {};
  if (encryption === 'AES256') return { ServerSideEncryption: 'AES256' };
  const key = encryption.slice('aws:kms='.length);
  return { ServerSideEncryption: 'aws:kms', ...(key ? { SSEKMSKeyId: key } : {}) };
}

/** Turns an entity tag into a version. Multi-part uploads' tags end with the number of parts. */
function versionOf(tag = ''): string {
  return tag.replaceAll(/[^A-Za-z0-9-]/g, '');
}

/** An error of one key of a DeleteObjects. */
function namedError({ Code = 'InternalError', Message = '' }: { Code?: string; Message?: string }): Error {
  return Object.assign(new Error(Message), {
    name: Code,
    Code,
    $metadata: { httpStatusCode: Code === 'AccessDenied' ? 403 : 500 },
  });
}
