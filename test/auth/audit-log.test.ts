/** The audit log's files, written and read without a server. */
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { AuditLog, type AuditLogLimits } from '../../mcp-server/audit/log/index.js';
import { selectAuditLines, type AuditLine } from '../../mcp-server/audit/log/select.js';
import { createLogger } from '../../platform/observe/log.js';
import { temporaryFolder } from '../support/for-all-tests.js';

const QUIET = createLogger('audit-test', 'silent');
const NO_ROTATION: AuditLogLimits = { largestFileBytes: 1e9, mostPendingBytes: 1e6 };

let folder: string;
beforeEach(() => {
  folder = join(temporaryFolder('audit'), 'audit');
});
afterEach(() => void jest.useRealTimers());

const open = (limits = NO_ROTATION) => new AuditLog(folder, QUIET, limits);
const files = () => readdirSync(folder).sort();
const start = (log: AuditLog, count: number) => {
  for (let index = 1; index <= count; index++)
    log.append({
      event: 'operation.start',
      principal: 'acme/alice',
      operation: `op-${index}`,
      outcome: 'ok',
    });
};
const linesIn = (name: string) =>
  readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AuditLine);
const operations = async () =>
  (await selectAuditLines(folder, { event: 'operation' })).map(({ operation }) => operation);

test('lines are private, in order, and JSON', async () => {
  const log = open();
  start(log, 2);
  await log.close();
  const [name] = files();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, name!)).mode & 0o777).toBe(0o600);
  const time = expect.any(String);
  const about = { event: 'operation.start', principal: 'acme/alice', outcome: 'ok' };
  expect(linesIn(name!)).toEqual([
    expect.objectContaining({ time, sequence: 1, event: 'log.opened', pid: process.pid }),
    { time, sequence: 2, ...about, operation: 'op-1' },
    { time, sequence: 3, ...about, operation: 'op-2' },
    { time, sequence: 4, event: 'log.closed' },
  ]);
});

test('names with line separators stay on one line', async () => {
  const log = open();
  const artifact = 'a\u2028b\u2029c\nd.txt';
  log.append({ event: 'operation.artifact', artifact, outcome: 'ok' });
  await log.close();
  expect(await selectAuditLines(folder, { event: 'operation' })).toMatchObject([{ artifact }]);
});

test('a line that a kill has cut off is left out, and the next process adds its own', async () => {
  const log = open();
  start(log, 2);
  const path = join(folder, files()[0]!);
  truncateSync(path, statSync(path).size - 30);
  const next = open();
  start(next, 1);
  await next.close();
  expect(await operations()).toEqual(['op-1', 'op-1']);
  await log.close();
});

test('a large log continues in further files', async () => {
  const log = open({ largestFileBytes: 2_000, mostPendingBytes: 1e6 });
  start(log, 100);
  await log.close();
  expect(files().length).toBeGreaterThan(3);
  expect(await operations()).toEqual(Array.from({ length: 100 }, (_, index) => `op-${index + 1}`));
});

test('a log continues in another file on the next day', async () => {
  jest.useFakeTimers({ now: Date.parse('2026-11-23T23:59:59Z') });
  const log = open();
  start(log, 1);
  jest.setSystemTime(Date.parse('2026-11-24T00:00:01Z'));
  start(log, 1);
  await log.close();
  jest.useRealTimers();
  expect(files().map((name) => linesIn(name).map(({ time }) => time.slice(0, 10)))).toEqual([
    ['2026-11-23', '2026-11-23'],
    ['2026-11-24', '2026-11-24'],
  ]);
});

test('a file that is removed while it is written is continued in another', async () => {
  const log = open();
  start(log, 1);
  await log.synced();
  rmSync(join(folder, files()[0]!));
  start(log, 1);
  await expect(log.synced()).rejects.toThrow('removed from its folder');
  start(log, 1);
  await log.close();
  expect((await selectAuditLines(folder, {})).map(({ event }) => event)).toEqual([
    'operation.start',
    'log.closed',
  ]);
});

test('several processes write files of their own', async () => {
  const [one, other] = [open(), open()];
  for (let round = 0; round < 3; round++) for (const log of [one, other]) start(log, 1);
  await Promise.all([one.close(), other.close()]);
  expect(files().map((name) => linesIn(name).map(({ sequence }) => sequence))).toEqual([
    [1, 2, 3, 4, 5],
    [1, 2, 3, 4, 5],
  ]);
});

test('lines keep their order when the clock is set back, and what is no line is left out', async () => {
  jest.useFakeTimers({ now: Date.parse('2026-11-23T12:00:00Z') });
  const log = open();
  start(log, 1);
  jest.setSystemTime(Date.parse('2026-11-23T11:59:00Z'));
  log.append({ event: 'operation.cancel', operation: 'op-1', outcome: 'ok' });
  await log.close();
  jest.useRealTimers();
  writeFileSync(join(folder, 'notes.txt'), 'x');
  appendFileSync(join(folder, files()[0]!), 'hello\nnull\n{"time":1}\n');
  const found = await selectAuditLines(folder, {});
  expect(found.map(({ event, time }) => [event, time])).toEqual([
    ['log.opened', '2026-11-23T12:00:00.000Z'],
    ['operation.start', '2026-11-23T12:00:00.000Z'],
    ['operation.cancel', '2026-11-23T11:59:00.000Z'],
    ['log.closed', '2026-11-23T11:59:00.000Z'],
  ]);
});

test('a folder that cannot be used is refused', () => {
  const path = join(folder, 'file');
  mkdirSync(folder);
  writeFileSync(path, '');
  expect(() => new AuditLog(path, QUIET)).toThrow(
    `audit log ${path}: expected a folder that can be written; got `,
  );
  expect(() => new AuditLog('/proc/audit', QUIET)).toThrow('audit log /proc/audit: expected a folder');
});
