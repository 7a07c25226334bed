/** Lines of operations' logs that storage doesn't take, beyond the end of their worker. */
import { spawnSync } from 'node:child_process';
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { ChunkedLog } from '../../platform/storage/chunked-log.js';
import { operationLogPrefix } from '../../platform/storage/keys.js';
import { folderStorage, type Storage } from '../../platform/storage/index.js';
import { LineReserve } from '../../worker/logs/line-reserve.js';
import { OperationLogs } from '../../worker/logs/operation-logs.js';
import { temporaryFolder } from '../support/for-all-tests.js';

let home: string;
let storage: Storage;
beforeEach(() => {
  home = temporaryFolder('lines');
  storage = folderStorage(join(home, 'storage'));
});

const logger = { warn: () => undefined } as any;
const folder = () => join(home, 'waiting-lines');

async function textOf(id: string): Promise<string> {
  const log = new ChunkedLog(storage, operationLogPrefix(id));
  return String(await log.read({ from: 0, lengthBytes: 1_000_000 }));
}

/** A worker's logs, with a storage that takes nothing while `disk.isFull`. */
function worker(reserve: LineReserve) {
  const disk = { isFull: true };
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const failing: Storage = {
    ...storage,
    create: (key, bytes) => (disk.isFull ? Promise.reject(full) : storage.create(key, bytes)),
  };
  return { disk, logs: new OperationLogs({ storage: failing, logger, reserve }) };
}

/** Renames its file as if its worker had been another process, which was killed. */
function killed(): void {
  const { pid } = spawnSync('true');
  for (const name of readdirSync(folder()))
    renameSync(join(folder(), name), join(folder(), name.replace(/^\d+\.[^.]+/, `${pid}.1`)));
}

function recover(reserve: LineReserve): Promise<void> {
  const logs = new OperationLogs({ storage, logger });
  return reserve.recover((workflowId, lines) => logs.restore(workflowId, lines));
}

test('lines that wait for room as their worker is killed are written by the next one, once', async () => {
  const { logs } = worker(new LineReserve(home));
  logs.add('one', 'before the first attempt');
  await logs.flush('one');
  logs.add('one', 'after it');
  logs.add('two', 'another\ttext ü');
  await logs.flush('two');
  killed();
  const next = new LineReserve(home);
  await recover(next);
  await recover(next);
  expect(await textOf('one')).toBe('before the first attempt\nafter it\n');
  expect(await textOf('two')).toBe('another\ttext ü\n');
  next.close();
  expect(readdirSync(folder())).toEqual([]);
  await logs.close();
});

test('lines that were written before their worker was killed are not written again', async () => {
  const { logs, disk } = worker(new LineReserve(home));
  for (const id of ['one', 'two']) logs.add(id, 'first');
  await Promise.all(['one', 'two'].map((id) => logs.flush(id)));
  disk.isFull = false;
  await logs.flush('one');
  disk.isFull = true;
  logs.add('one', 'second');
  await logs.flush('one');
  killed();
  await recover(new LineReserve(home));
  expect(await textOf('one')).toBe('first\nsecond\n');
  expect(await textOf('two')).toBe('first\n');
  await logs.close();
});

test('lines that a worker wrote in the moment in which it was killed are found in the log', async () => {
  const reserve = new LineReserve(home);
  for (const line of ['a', 'b', 'c']) reserve.keep('one', line);
  const log = new ChunkedLog(storage, operationLogPrefix('one'));
  await log.append(() => Buffer.from('earlier\na\nb\n'));
  killed();
  await recover(new LineReserve(home));
  expect(await textOf('one')).toBe('earlier\na\nb\nc\n');
});

test('the file of a worker that lives is left alone, and a full one takes no more', async () => {
  const reserve = new LineReserve(home);
  const line = 'x'.repeat(8_000);
  for (let count = 0; count < 200; count += 1) reserve.keep('one', `${count} ${line}`);
  reserve.keep('two', line);
  await recover(new LineReserve(home));
  expect(await textOf('one')).toBe('');
  // There is room for this.
  reserve.written('one');
  reserve.keep('two', 'later');
  killed();
  await recover(new LineReserve(home));
  expect([await textOf('one'), await textOf('two')]).toEqual(['', 'later\n']);
});

test('while the disk is full, the lines of a killed worker wait', async () => {
  new LineReserve(home).keep('one', 'line');
  killed();
  const next = new LineReserve(home);
  const { logs } = worker(next);
  await expect(next.recover((id, lines) => logs.restore(id, lines))).rejects.toThrow('no space left');
  await recover(next);
  expect(await textOf('one')).toBe('line\n');
});
