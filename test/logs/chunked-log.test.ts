/** How logs are stored: by one process or by several at once, bounded, and whatever storage does. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ChunkedLog } from '../../platform/storage/chunked-log.js';
import { folderStorage, type Storage } from '../../platform/storage/index.js';
import { operationLogPrefix } from '../../platform/storage/keys.js';
import { OperationLogs } from '../../worker/logs/operation-logs.js';
import { eventually } from '../stack/cli-process.js';
import { temporaryFolder } from '../support/for-all-tests.js';
import { logText } from '../support/stored-log.js';

const folder = temporaryFolder('chunks');
const storage = folderStorage(folder);

let count = 0;
let id: string;
beforeEach(() => {
  id = `operation-${(count += 1)}`;
});
const prefix = () => operationLogPrefix(id);
const open = () => new ChunkedLog(storage, prefix());
const names = () => readdirSync(join(folder, prefix())).sort((a, b) => parseInt(a) - parseInt(b));

const textOf = () => logText(storage, prefix());

describe('a log in chunks', () => {
  const append = (log: ChunkedLog, text: string) => log.append(() => Buffer.from(text));

  test('takes what several writers append at once, and a reader only ever sees more of the same', async () => {
    const writers = 8;
    const appends = 30;
    let isOver = false;
    let seen = '';
    const reading = (async () => {
      const log = open();
      while (!isOver) {
        const size = (await log.size()) ?? 0;
        const more = await log.read({ from: Buffer.byteLength(seen), lengthBytes: size - seen.length });
        seen += more.toString();
        // Any other range is a part of the same.
        const from = Math.floor(seen.length / 3);
        const part = await log.read({ from, lengthBytes: seen.length - from });
        expect(seen.slice(from)).toBe(part.toString());
      }
    })();
    await Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        for (let at = 0; at < appends; at += 1) await append(open(), `writer ${writer}, line ${at}\n`);
      }),
    );
    isOver = true;
    await reading;
    const text = await textOf();
    expect(text.startsWith(seen)).toBe(true);
    const lines = text.trim().split('\n');
    expect(lines).toHaveLength(writers * appends);
    for (let writer = 0; writer < writers; writer += 1)
      expect(lines.filter((line) => line.startsWith(`writer ${writer},`))).toEqual(
        Array.from({ length: appends }, (_, at) => `writer ${writer}, line ${at}`),
      );
  });

  test('is continued where a writer was late, so that nothing is overwritten or hidden', async () => {
    const late = open();
    await append(late, 'first\n');
    let isLate = true;
    // Between reading the size and writing, the others append so much that the chunk there is merged.
    await late.append(() => Buffer.from('late\n'));
    const slow = new ChunkedLog(
      {
        ...storage,
        create: async (key, bytes) => {
          if (isLate) {
            isLate = false;
            for (let at = 0; at < 200; at += 1) await append(open(), `other ${at}\n`);
          }
          return storage.create(key, bytes);
        },
      },
      prefix(),
    );
    await append(slow, 'very late\n');
    const expected = `first\nlate\n${Array.from({ length: 200 }, (_, at) => `other ${at}\n`).join('')}very late\n`;
    expect(await textOf()).toBe(expected);
    await append(open(), 'behind\n');
    expect(await textOf()).toBe(`${expected}behind\n`);
  });

  test('is read on behind chunks that a power failure has emptied or cut off, before later ones', async () => {
    for (const text of ['first\n', 'second\n', 'third\n', 'fourth\n']) await append(open(), text);
    writeFileSync(join(folder, prefix(), '6'), '');
    writeFileSync(join(folder, prefix(), '13'), 'thi');
    const expected = `first\n${'\n'.repeat(7)}thi${'\n'.repeat(3)}fourth\n`;
    expect(await textOf()).toBe(expected);
    await append(open(), 'fifth\n');
    expect(await textOf()).toBe(`${expected}fifth\n`);
  });

  test('takes appends while there is no room to merge them', async () => {
    const full: Storage = { ...storage, put: () => Promise.reject(new Error('ENOSPC')) };
    for (let at = 0; at < 80; at += 1) await append(new ChunkedLog(full, prefix()), `${at}\n`);
    expect(names()).toHaveLength(80);
    expect(await textOf()).toBe(Array.from({ length: 80 }, (_, at) => `${at}\n`).join(''));
    await append(open(), '80\n');
    expect(names().length).toBeLessThan(20);
  });

  test('takes all of an append or nothing', async () => {
    await append(open(), 'first\n');
    const full: Storage = {
      ...storage,
      create: () => Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })),
    };
    await expect(append(new ChunkedLog(full, prefix()), 'second\n')).rejects.toThrow('ENOSPC');
    expect(await textOf()).toBe('first\n');
  });
});

describe('a log with one writer', () => {
  const append = (log: ChunkedLog, offset: number, text: string) => log.appendAt(offset, Buffer.from(text));

  test('is appended to without lists, and is kept in few files', async () => {
    let lists = 0;
    const counted: Storage = {
      ...storage,
      keys: (keyPrefix) => {
        lists += 1;
        return storage.keys(keyPrefix);
      },
    };
    const log = new ChunkedLog(counted, prefix());
    expect(await log.size()).toBeUndefined();
    let text = '';
    for (let at = 0; at < 500; at += 1) {
      const line = `line ${at}\n`.padEnd(2_000, '.');
      await append(log, text.length, line);
      text += line;
    }
    expect(lists).toBe(1);
    expect(names().length).toBeLessThan(80);
    expect(await textOf()).toBe(text);
  });

  test('has once what is appended again since its answer was lost', async () => {
    let isLost = true;
    const lossy: Storage = {
      ...storage,
      create: async (key, bytes) => {
        const isCreated = await storage.create(key, bytes);
        if (isLost) throw new Error('no answer');
        return isCreated;
      },
    };
    const log = new ChunkedLog(lossy, prefix());
    await log.size();
    await expect(append(log, 0, 'first\n')).rejects.toThrow('no answer');
    isLost = false;
    await append(log, 0, 'first\n');
    await append(log, 6, 'second\n');
    expect(await textOf()).toBe('first\nsecond\n');
  });

  test('takes no harm from appends of the writer before that come late', async () => {
    const before = open();
    await append(before, 0, 'first\n');
    const log = open();
    expect(await log.size()).toBe(6);
    await append(log, 6, 'second\nthird\n');
    await append(before, 6, 'second\n');
    expect(await textOf()).toBe('first\nsecond\nthird\n');
    // It comes before that of the new writer, which has read less of the output.
    await append(before, 19, 'fourth\nfifth\n');
    await append(log, 19, 'fourth\n');
    await append(log, 26, 'fifth\n');
    expect(await textOf()).toBe('first\nsecond\nthird\nfourth\nfifth\n');
    await append(before, 32, '--- attempt 2, of before\n');
    await append(log, 32, '--- attempt 2\n');
    expect(await textOf()).toBe('first\nsecond\nthird\nfourth\nfifth\n--- attempt 2\n');
  });
});

describe('the lines of a worker', () => {
  const warnings: unknown[] = [];
  const logger = { warn: (...args: unknown[]) => void warnings.push(args) };
  const disk = { isFull: false };
  const failing: Storage = {
    ...storage,
    create: (key, bytes) =>
      disk.isFull
        ? Promise.reject(Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' }))
        : storage.create(key, bytes),
  };
  beforeEach(() => {
    disk.isFull = false;
    warnings.length = 0;
  });
  const logs = (options: object = {}) => new OperationLogs({ storage: failing, logger, ...options });

  test('are there soon, and at once when they are flushed', async () => {
    const own = logs();
    own.add(id, 'one');
    own.add(id, 'two');
    await eventually('they are written', async () => (await textOf()) === 'one\ntwo\n');
    own.add(id, 'three');
    await own.flush(id);
    expect(await textOf()).toBe('one\ntwo\nthree\n');
    own.add(id, 'four');
    await own.close();
    expect(await textOf()).toBe('one\ntwo\nthree\nfour\n');
  });

  test('are kept while the disk is full, and written in their order once it is not', async () => {
    disk.isFull = true;
    const own = logs();
    for (let line = 1; line <= 100; line += 1) own.add(id, `line ${line}`);
    await own.flush(id);
    await own.flush(id);
    expect(await open().size()).toBeUndefined();
    // The worker's log says so once.
    expect(warnings).toEqual([
      [expect.objectContaining({ workflowId: id }), "an operation's log can't be written; trying again"],
    ]);
    disk.isFull = false;
    const all = Array.from({ length: 100 }, (_, at) => `line ${at + 1}\n`).join('');
    await eventually('they are written', async () => (await textOf()) === all);
  });

  test('are dropped when storage takes none for long, and the log says how many', async () => {
    disk.isFull = true;
    const own = logs({ bufferBytes: 1_000 });
    for (let line = 0; line < 500; line += 1) own.add(id, `line ${String(line).padStart(4, '0')}`);
    await own.flush(id);
    disk.isFull = false;
    await own.flush(id);
    const lines = (await textOf()).trim().split('\n');
    expect(lines).toHaveLength(101);
    expect(lines[99]).toBe('line 0099');
    expect(lines[100]).toBe('--- 400 lines are missing: they came faster than they could be written');
    own.add(id, 'after');
    await own.close();
    expect((await textOf()).endsWith('written\nafter\n')).toBe(true);
  });

  test('of several writers fill a log to its limit, which it reports once', async () => {
    const limitBytes = 40 * 1024;
    const workers = [logs({ limitBytes }), logs({ limitBytes })];
    for (let line = 0; line < 2_000; line += 1) {
      for (const own of workers) own.add(id, `line ${line} ${'x'.repeat(30)}`);
      if (line % 50 === 0) await Promise.all(workers.map((own) => own.flush(id)));
    }
    await Promise.all(workers.map((own) => own.close()));
    const text = await textOf();
    expect(text.length).toBeLessThanOrEqual(limitBytes);
    expect(text.length).toBeGreaterThan(limitBytes - 10 * 1024);
    const lines = text.trim().split('\n');
    expect(lines.filter((line) => line.startsWith('---'))).toEqual([
      '--- the log has reached its limit of 40960 bytes: the rest is dropped',
    ]);
    expect(lines.at(-1)).toMatch(/^---/);
  });

  test('that storage never takes do not block their writers', async () => {
    const hanging: Storage = { ...storage, create: () => new Promise(() => undefined) };
    const own = logs({ storage: hanging });
    own.add(id, 'one');
    await own.flush(id);
    await own.close();
    expect(await textOf()).toBe('');
  });
});
