/** The contract of storage, for both drivers: a folder, and a real S3 server. Then pages, trouble and moves of S3. */
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { ChunkedLog } from '../../platform/chunked-log.js';
import { artifactKey, logKey, operationLogPrefix } from '../../platform/storage-keys.js';
import { openStorage, StorageError, verifyStorage, type Storage } from '../../platform/storage/index.js';
import { copyStorage } from '../../platform/storage/move.js';
import { Links } from '../chaos/faults/links.js';
import { INSTALL_MS } from '../support/limits.js';
import { S3Server } from '../support/s3-server.js';

jest.setTimeout(INSTALL_MS);

let folder: string;
let s3: S3Server;
let links: Links;
/** Port of the link to the server. */
let linked: number;
const before = { ...process.env };
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-storage-'));
  [s3, links] = await Promise.all([S3Server.start('values'), Links.start()]);
  linked = await links.open('s3', s3.port);
  Object.assign(process.env, s3.environment('s3://values'));
});
afterAll(async () => {
  process.env = before;
  await Promise.all([s3.stop(), links.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

/** A storage of its own in the bucket. */
function bucket(settings: object = {}, prefix: string = randomUUID()): Storage {
  return openStorage({
    home: folder,
    storage: `s3://values/${prefix}`,
    storageEndpoint: s3.endpoint,
    storageRegion: 'us-east-1',
    storagePathStyle: true,
    ...settings,
  });
}
const DRIVERS = {
  folder: () => openStorage({ home: join(folder, randomUUID()) }),
  S3: () => bucket(),
};

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function streamed(storage: Storage, key: string, range?: { from: number; lengthBytes: number }) {
  return Buffer.concat((await all(await storage.stream(key, range))) as Buffer[]);
}

function file(bytes: Uint8Array): string {
  const path = join(folder, randomUUID());
  writeFileSync(path, bytes);
  return path;
}

describe.each(Object.entries(DRIVERS))('%s', (_name, open) => {
  const key = artifactKey('an operation', 'a file');
  const log = logKey('an operation', 'build', 1);
  let storage: Storage;
  beforeAll(() => {
    storage = open();
  });

  test('keeps what is put, and replaces it', async () => {
    await storage.put(key, Buffer.from('first'));
    const first = await storage.about(key);
    expect(first!.sizeBytes).toBe(5);
    expect(first!.version).toMatch(/^[A-Za-z0-9-]+$/);
    await storage.put(key, Buffer.from('second'));
    expect((await storage.read(key)).toString()).toBe('second');
    expect(await storage.size(key)).toBe(6);
    expect((await storage.about(key))!.version).not.toBe(first!.version);
    await storage.put(key, Buffer.alloc(0));
    expect((await storage.read(key)).length).toBe(0);
    expect(await storage.size(key)).toBe(0);
  });

  test('reads ranges, cut off at the end', async () => {
    const bytes = randomBytes(300_000);
    await storage.put(key, bytes);
    for (const [from, lengthBytes] of [
      [0, 10],
      [250_000, 100_000],
      [299_999, 1],
      [300_000, 5],
      [400_000, 5],
      [5, 0],
    ] as const)
      expect(
        (await storage.read(key, { from, lengthBytes })).equals(bytes.subarray(from, from + lengthBytes)),
      ).toBe(true);
    expect((await streamed(storage, key)).equals(bytes)).toBe(true);
    expect(await streamed(storage, key, { from: 7, lengthBytes: 9 })).toEqual(bytes.subarray(7, 16));
  });

  test('says what is missing', async () => {
    for (const missing of [artifactKey('an operation', 'none'), logKey('an operation', 'none', 3)]) {
      expect(await storage.size(missing)).toBeUndefined();
      expect(await storage.about(missing)).toBeUndefined();
      for (const reading of [storage.read(missing), storage.stream(missing)])
        await expect(reading).rejects.toMatchObject({ kind: 'not_found' });
      await storage.remove(missing);
    }
  });

  test('creates a value once, also when many try', async () => {
    const name = artifactKey('an operation', 'once');
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, at) => storage.create(name, Buffer.from(`by ${at}`))),
    );
    expect(made.filter(Boolean)).toHaveLength(1);
    expect((await storage.read(name)).toString()).toBe(`by ${made.indexOf(true)}`);
    expect(await storage.create(name, Buffer.from('late'))).toBe(false);
  });

  test('moves a file of any size into storage', async () => {
    for (const sizeBytes of [10, 20 * 1024 * 1024 + 1]) {
      const bytes = randomBytes(sizeBytes);
      const path = file(bytes);
      await storage.putFile(key, path);
      expect(existsSync(path)).toBe(false);
      expect(await storage.size(key)).toBe(sizeBytes);
      expect((await streamed(storage, key)).equals(bytes)).toBe(true);
    }
  });

  test('appends to logs, which are read while they grow', async () => {
    let text = '';
    for (let line = 0; line < 80; line += 1) {
      await storage.append(log, Buffer.from(`line ${line}\n`));
      text += `line ${line}\n`;
      if (line % 26 !== 0) continue;
      expect(await storage.size(log)).toBe(text.length);
      expect((await storage.read(log)).toString()).toBe(text);
      expect((await streamed(storage, log)).toString()).toBe(text);
    }
    expect((await storage.read(log, { from: 5, lengthBytes: 20 })).toString()).toBe(text.slice(5, 25));
    const end = { from: text.length - 9, lengthBytes: 100 };
    expect((await storage.read(log, end)).toString()).toBe(text.slice(-9));
    expect(await all(storage.keys('logs/'))).toEqual([log]);
    const [listed] = await all(storage.list('logs/'));
    expect(listed!.sizeBytes).toBe(text.length);
    expect(await storage.about(log)).toMatchObject({ sizeBytes: text.length });
    // Another process continues it.
    await storage.append(log, Buffer.from('end\n'));
    expect((await storage.read(log)).toString()).toBe(`${text}end\n`);
    await storage.put(log, Buffer.from('replaced\n'));
    await storage.append(log, Buffer.from('and continued\n'));
    expect((await storage.read(log)).toString()).toBe('replaced\nand continued\n');
    await storage.remove(log);
    expect(await all(storage.keys('logs/'))).toEqual([]);
  });

  test('keeps a log that several processes append to', async () => {
    const writers = [1, 2, 3].map((writer) => ({
      writer,
      log: new ChunkedLog(storage, operationLogPrefix('an operation')),
    }));
    await Promise.all(
      writers.map(async ({ writer, log: own }) => {
        for (let line = 0; line < 12; line += 1) await own.append(() => Buffer.from(`${writer} ${line}\n`));
      }),
    );
    const read = new ChunkedLog(storage, operationLogPrefix('an operation'));
    const text = (await read.read({ from: 0, lengthBytes: (await read.size())! })).toString();
    for (const { writer } of writers)
      expect(text.split('\n').filter((line) => line.startsWith(`${writer} `))).toEqual(
        Array.from({ length: 12 }, (_, line) => `${writer} ${line}`),
      );
    expect(text.split('\n')).toHaveLength(37);
  });

  test('lists by prefix, and removes many', async () => {
    await storage.removeAll(storage.keys());
    const keys = Array.from({ length: 25 }, (_, at) => artifactKey('another', `file ${at}`));
    await Promise.all(keys.map((one) => storage.put(one, Buffer.from(one))));
    await storage.append(log, Buffer.from('x'));
    expect((await all(storage.keys())).sort()).toEqual([...keys, log].sort());
    const found = await all(storage.list('artifacts/another/'));
    expect(found.map((one) => one.key).sort()).toEqual([...keys].sort());
    for (const { key: one, sizeBytes, changedAt } of found) {
      expect(sizeBytes).toBe(one.length);
      expect(Math.abs(Date.now() - changedAt.getTime())).toBeLessThan(INSTALL_MS);
    }
    expect(await all(storage.keys('artifacts/nobody/'))).toEqual([]);
    await storage.removeAll(storage.keys('artifacts/'));
    expect(await all(storage.keys())).toEqual([log]);
    await storage.removeAll([log, 'artifacts/nobody/none']);
    expect(await all(storage.keys())).toEqual([]);
  });

  test('has an identity, and is verified', async () => {
    const [one, other] = await Promise.all([verifyStorage(storage, 'it'), verifyStorage(storage, 'it')]);
    expect(one).toMatch(/^[0-9a-f]{10}$/);
    expect(other).toBe(one);
    expect(await verifyStorage(open(), 'another')).not.toBe(one);
  });
});

test('a list of S3 has all pages', async () => {
  const storage = bucket({}, 'many');
  s3.fill('values/many/artifacts/an-operation', 1_100);
  expect(await all(storage.keys('artifacts/'))).toHaveLength(1_100);
  await storage.removeAll(storage.keys());
  expect(await all(storage.keys())).toEqual([]);
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
  const putIn = (settings: object) => bucket(settings).put('artifacts/o/a', Buffer.from('x'));

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
    try {
      const error = await failure(putIn({}));
      expect(error).toMatchObject({ retryable: false });
      expect(error.message).toMatch(/refuses these credentials.*403 SignatureDoesNotMatch/);
      process.env['AWS_ACCESS_KEY_ID'] = 'nobody';
      expect((await failure(putIn({}))).message).toMatch(/refuses these credentials/);
    } finally {
      Object.assign(process.env, s3.environment('s3://values'));
    }
  });

  test('a store that is down, or silent, is retryable, within bounded time', async () => {
    const storage = bucket({ storageEndpoint: `http://127.0.0.1:${linked}` });
    await storage.put('artifacts/o/a', Buffer.from('stored'));
    for (const fault of ['cut', 'drop'] as const) {
      await links.fault('s3', fault);
      try {
        const began = performance.now();
        const error = await failure(storage.read('artifacts/o/a'));
        expect(error).toMatchObject({ kind: 'unavailable', retryable: true });
        expect(error.message).toContain("can't be reached, or does not answer");
        expect(performance.now() - began).toBeLessThan(15_000);
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
      const error = await failure(verifyStorage(bucket({ storageEndpoint: endpoint }), 'the store'));
      expect(error.retryable).toBe(false);
      expect(error.message).toContain('expected 412 for a PUT with If-None-Match: *');
    });
  });

  test('a creation whose answer was lost is known as its own', async () => {
    let lost = 0;
    const proxy = createServer((received, response) => {
      const { method, url, headers } = received;
      const sent = request(s3.endpoint + url!, { method, headers }, (answer) => {
        if (method === 'PUT' && lost++ === 0) received.socket.destroy();
        else answer.pipe(response.writeHead(answer.statusCode!, answer.headers));
      });
      received.pipe(sent);
    });
    await served(proxy, async (endpoint) => {
      const storage = bucket({ storageEndpoint: endpoint });
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

test('a copy to the bucket and back has everything, and repeats nothing', async () => {
  const [from, to, back] = [DRIVERS.folder(), bucket(), DRIVERS.folder()];
  const log = logKey('an operation', 'build', 1);
  await from.put(artifactKey('an operation', 'a file'), randomBytes(100_000));
  await from.append(log, Buffer.from('one\n'));
  const large = file(randomBytes(9 * 1024 * 1024));
  await from.putFile(artifactKey('an operation', 'large'), large);
  expect(await copyStorage({ from, to, folder })).toMatchObject({
    found: 3,
    copied: 3,
    present: 0,
    newer: [],
  });
  expect(await copyStorage({ from, to, folder })).toMatchObject({ found: 3, copied: 0, present: 3 });
  await from.append(log, Buffer.from('two\n'));
  expect(await copyStorage({ from, to, folder })).toMatchObject({ copied: 1 });
  await to.append(log, Buffer.from('three\n'));
  expect(await copyStorage({ from: to, to: back, folder })).toMatchObject({ found: 3, copied: 3 });
  expect((await back.read(log)).toString()).toBe('one\ntwo\nthree\n');
  for await (const { key } of from.list('artifacts/'))
    expect((await back.read(key)).equals(await from.read(key))).toBe(true);
});
