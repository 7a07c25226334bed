/** Pages, trouble and copies of S3. */
import { ListMultipartUploadsCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, truncateSync } from 'node:fs';
import { type Server, createServer, request } from 'node:http';
import { join, relative } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { ChunkedLog } from '../../platform/storage/chunked-log.js';
import { artifactKey, operationLogPrefix, stepLogPrefix } from '../../platform/storage/keys.js';
import { StorageError, openStorage, storageId, verifyStorage } from '../../platform/storage/index.js';
import { Links } from '../chaos/faults/links.js';
import { eventually } from '../stack/cli-process.js';
import { afterThisTest, forAllTests, inSetUp } from '../support/for-all-tests.js';
import { INSTALL_MS } from '../support/limits.js';
import { logText } from '../support/stored-log.js';
import { Storages, all } from './storages.js';

jest.setTimeout(INSTALL_MS);

const storages = await forAllTests(Storages.start());
const links = await forAllTests(Links.start());
/** Port of the link to the server. */
const linked = await inSetUp(links.open('s3', storages.s3.port));

test('a list of S3 has all pages', async () => {
  const storage = storages.bucket({}, 'many');
  storages.s3.fill('values/many/artifacts/an-operation', 1_100);
  expect(await all(storage.keys('artifacts/'))).toHaveLength(1_100);
  await storage.removeAll(storage.keys());
  expect(await all(storage.keys())).toEqual([]);
});

test('a canceled upload leaves nothing in S3, and the file where it is', async () => {
  const storage = storages.bucket();
  const key = artifactKey('an operation', 'large');
  const path = storages.file(Buffer.from('x'));
  truncateSync(path, 9 * 1024 ** 3);
  const client = new S3Client({ endpoint: storages.s3.endpoint, region: 'us-east-1', forcePathStyle: true });
  const uploads = async () =>
    (await client.send(new ListMultipartUploadsCommand({ Bucket: 'values' }))).Uploads ?? [];
  const cancel = new AbortController();
  const stored = storage.putFile(key, path, cancel.signal).catch((error: unknown) => error);
  await eventually('the upload has begun', async () => (await uploads()).length > 0);
  cancel.abort(new Error('canceled'));
  expect(await stored).toEqual(new Error('canceled'));
  expect(await uploads()).toEqual([]);
  expect(await storage.size(key)).toBeUndefined();
  expect(existsSync(path)).toBe(true);
  await expect(storage.putFile(key, path, cancel.signal)).rejects.toThrow('canceled');
  client.destroy();
});

describe('trouble of S3', () => {
  const failure = async (work: Promise<unknown>): Promise<StorageError> => {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(StorageError);
    return error as StorageError;
  };
  const putIn = (settings: object) => storages.bucket(settings).put('artifacts/o/a', Buffer.from('x'));

  test.each([
    ['a missing bucket', { storage: 's3://absent' }, 'there is no bucket absent (put: 404 NoSuchBucket'],
    [
      'another region',
      { storageRegion: 'eu-west-1' },
      'the bucket is in the region us-east-1, and eu-west-1 was asked',
    ],
  ])('%s is named, and is not retryable', async (_what, settings, message) => {
    const error = await failure(putIn(settings));
    expect(error).toMatchObject({ kind: 'unavailable', retryable: false });
    expect(error.message).toContain(message);
  });

  test('wrong credentials are refused, and say so', async () => {
    process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong';
    afterThisTest(() => storages.useCredentials());

    const error = await failure(putIn({}));
    expect(error).toMatchObject({ retryable: false });
    expect(error.message).toMatch(/refuses these credentials.*403 SignatureDoesNotMatch/);
    process.env['AWS_ACCESS_KEY_ID'] = 'nobody';
    expect((await failure(putIn({}))).message).toMatch(/refuses these credentials/);
  });

  test('a store that is down, or silent, is retryable', async () => {
    const storage = storages.bucket({ storageEndpoint: `http://127.0.0.1:${linked}` });
    await storage.put('artifacts/o/a', Buffer.from('stored'));
    for (const fault of ['cut', 'drop'] as const) {
      await links.fault('s3', fault);
      try {
        const error = await failure(storage.read('artifacts/o/a'));
        expect(error).toMatchObject({ kind: 'unavailable', retryable: true });
        expect(error.message).toContain("can't be reached, or does not answer");
      } finally {
        await links.heal('s3');
      }
      expect((await storage.read('artifacts/o/a')).toString()).toBe('stored');
    }
  });

  test.each([
    [507, 'InsufficientStorage', true, 'the store is full'],
    [403, 'QuotaExceeded', true, 'the store is full'],
    [503, 'SlowDown', true, 'the store is overloaded'],
    [500, 'InternalError', true, 'the store has failed'],
    [501, 'NotImplemented', false, 'the store lacks'],
    [301, 'PermanentRedirect', false, 'the bucket is in another region'],
  ])('an answer %i %s is mapped', async (status, code, retryable, message) => {
    await answering(
      status,
      `<Error><Code>${code}</Code><Message>of the test</Message></Error>`,
      async (endpoint) => {
        const error = await failure(putIn({ storageEndpoint: endpoint }));
        expect(error).toMatchObject({ kind: 'unavailable', retryable });
        expect(error.message).toContain(message);
        expect(error.message).toContain(String(status));
      },
    );
  });

  test('a store that ignores the condition of a write is refused', async () => {
    const stored = new Map<string, string>();
    const endpointOf = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const path = request.url!.split('?')[0]!;
        if (request.method === 'PUT') stored.set(path, body);
        const value = stored.get(path);
        response.writeHead(value === undefined ? 404 : 200);
        response.end(value ?? '<Error><Code>NoSuchKey</Code></Error>');
      });
    });
    await served(endpointOf, async (endpoint) => {
      const error = await failure(verifyStorage(storages.bucket({ storageEndpoint: endpoint }), 'the store'));
      expect(error.retryable).toBe(false);
      expect(error.message).toContain('expected 412 for a PUT with If-None-Match: *');
    });
  });

  test('a creation whose answer was lost is known as its own', async () => {
    let lost = 0;
    const proxy = createServer((received, response) => {
      const { method, url, headers } = received;
      const sent = request(storages.s3.endpoint + url!, { method, headers }, (answer) => {
        if (method === 'PUT' && lost++ === 0) received.socket.destroy();
        else answer.pipe(response.writeHead(answer.statusCode!, answer.headers));
      });
      received.pipe(sent);
    });
    await served(proxy, async (endpoint) => {
      const storage = storages.bucket({ storageEndpoint: endpoint });
      const made = await storage
        .create('artifacts/o/a', Buffer.from('x'))
        .catch((error: Error) => error.message);
      expect(lost).toBeGreaterThan(1);
      expect(made).toBe(true);
    });
  });
});

async function answering(
  status: number,
  body: string,
  work: (endpoint: string) => Promise<void>,
): Promise<void> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(status, { 'content-type': 'application/xml' }).end(body));
  });
  await served(server, work);
}

async function served(server: Server, work: (endpoint: string) => Promise<void>): Promise<void> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    await work(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('a copy of all files under their names, as `aws s3 sync` makes it', () => {
  const client = () =>
    new S3Client({ endpoint: storages.s3.endpoint, region: 'us-east-1', forcePathStyle: true });
  const IDENTITY = 'storage-id';

  async function upload(folder: string, prefix: string): Promise<void> {
    const to = client();
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || entry.name === IDENTITY) continue;
      const path = join(entry.parentPath, entry.name);
      const Key = `${prefix}/${relative(folder, path)}`;
      await to.send(new PutObjectCommand({ Bucket: 'values', Key, Body: readFileSync(path) }));
    }
    to.destroy();
  }

  test('from a folder in use to a bucket has everything', async () => {
    const home = join(storages.folder, randomUUID());
    const prefix = randomUUID();
    const [from, to] = [openStorage({ home }), storages.bucket({}, prefix)];
    const ofStep = stepLogPrefix('an operation', 'build', 1);
    const ofOperation = operationLogPrefix('an operation');
    const file = artifactKey('an operation', 'site/\u00fc (1).html');
    const bytes = randomBytes(100_000);
    await from.put(file, bytes);
    const log = new ChunkedLog(from, ofStep);
    let sizeBytes = (await log.size()) ?? 0;
    const grow = async (lines: number) => {
      for (let line = 1; line <= lines; line += 1) {
        const text = Buffer.from(`${line} of ${lines}\n`);
        await log.appendAt(sizeBytes, text);
        sizeBytes += text.length;
        await new ChunkedLog(from, ofOperation).append(() => text);
      }
    };
    await grow(50);
    await upload(join(home, 'storage'), prefix);
    // Chunks that were copied are merged.
    await grow(100);
    await upload(join(home, 'storage'), prefix);
    for (const one of [ofStep, ofOperation]) {
      expect((await logText(to, one)).split('\n')).toHaveLength(151);
      expect(await logText(to, one)).toBe(await logText(from, one));
    }
    expect((await to.read(file)).equals(bytes)).toBe(true);
    expect(await storageId(to)).not.toBe(await storageId(from));
  });
});
