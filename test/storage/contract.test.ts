/** The contract of storage, for both drivers: a folder, and a real S3 server. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { ChunkedLog } from '../../platform/storage/chunked-log.js';
import { artifactKey, operationLogPrefix, stepLogPrefix } from '../../platform/storage/keys.js';
import { verifyStorage, type Storage } from '../../platform/storage/index.js';
import { forAllTests } from '../support/for-all-tests.js';
import { INSTALL_MS } from '../support/limits.js';
import { logText } from '../support/stored-log.js';
import { all, Storages } from './storages.js';

jest.setTimeout(INSTALL_MS);

const storages = await forAllTests(Storages.start());

const DRIVERS = { folder: () => storages.inFolder(), S3: () => storages.bucket() };

async function streamed(storage: Storage, key: string, range?: { from: number; lengthBytes: number }) {
  return Buffer.concat((await all(await storage.stream(key, range))) as Buffer[]);
}

describe.each(Object.entries(DRIVERS))('%s', (_name, open) => {
  const key = artifactKey('an operation', 'a file');
  const chunk = `${stepLogPrefix('an operation', 'build', 1)}0`;
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
    const missing = artifactKey('an operation', 'none');
    expect(await storage.size(missing)).toBeUndefined();
    expect(await storage.about(missing)).toBeUndefined();
    for (const reading of [storage.read(missing), storage.stream(missing)])
      await expect(reading).rejects.toMatchObject({ kind: 'not_found' });
    await storage.remove(missing);
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
      const path = storages.file(bytes);
      await storage.putFile(key, path);
      expect(existsSync(path)).toBe(false);
      expect(await storage.size(key)).toBe(sizeBytes);
      expect((await streamed(storage, key)).equals(bytes)).toBe(true);
    }
  });

  test('keeps a log with one writer, which is read while it grows', async () => {
    const prefix = stepLogPrefix('an operation', 'build', 1);
    const written = new ChunkedLog(storage, prefix);
    expect(await written.size()).toBeUndefined();
    let text = '';
    for (let line = 0; line < 80; line += 1) {
      await written.appendAt(text.length, Buffer.from(`line ${line}\n`));
      text += `line ${line}\n`;
      if (line % 26 === 0) expect(await logText(storage, prefix)).toBe(text);
    }
    const read = new ChunkedLog(storage, prefix);
    expect((await read.read({ from: 5, lengthBytes: 20 })).toString()).toBe(text.slice(5, 25));
    const end = { from: text.length - 9, lengthBytes: 100 };
    expect((await read.read(end)).toString()).toBe(text.slice(-9));
    // Another process continues it.
    const next = new ChunkedLog(storage, prefix);
    expect(await next.size()).toBe(text.length);
    await next.appendAt(text.length, Buffer.from('end\n'));
    // Its answer was lost.
    await next.appendAt(text.length, Buffer.from('end\n'));
    expect(await logText(storage, prefix)).toBe(`${text}end\n`);
    await storage.removeAll(storage.keys(prefix));
    expect(await next.size()).toBeUndefined();
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
    const text = await logText(storage, operationLogPrefix('an operation'));
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
    await storage.put(chunk, Buffer.from('x'));
    expect((await all(storage.keys())).sort()).toEqual([...keys, chunk].sort());
    const found = await all(storage.list('artifacts/another/'));
    expect(found.map((one) => one.key).sort()).toEqual([...keys].sort());
    for (const { key: one, sizeBytes, changedAt } of found) {
      expect(sizeBytes).toBe(one.length);
      expect(Math.abs(Date.now() - changedAt.getTime())).toBeLessThan(INSTALL_MS);
    }
    expect(await all(storage.keys('artifacts/nobody/'))).toEqual([]);
    await storage.removeAll(storage.keys('artifacts/'));
    expect(await all(storage.keys())).toEqual([chunk]);
    await storage.removeAll([chunk, 'artifacts/nobody/none']);
    expect(await all(storage.keys())).toEqual([]);
  });

  test('has an identity, and is verified', async () => {
    const [one, other] = await Promise.all([verifyStorage(storage, 'it'), verifyStorage(storage, 'it')]);
    expect(one).toMatch(/^[0-9a-f]{10}$/);
    expect(other).toBe(one);
    expect(await verifyStorage(open(), 'another')).not.toBe(one);
  });
});
