/** The audit log's files: what is written, and that verify finds every kind of change. Needs no server. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { AuditLog, type AuditLogLimits } from '../../platform/audit-log/index.js';
import { auditKeyOf, formatLine, type AuditLine } from '../../platform/audit-log/line.js';
import { selectAuditLines } from '../../platform/audit-log/select.js';
import { verifyAuditLog, type VerifyOptions } from '../../platform/audit-log/verify.js';
import { createLogger } from '../../platform/log.js';

const SECRET = Buffer.alloc(32, 7);
const QUIET = createLogger('audit-test', 'silent');
const NO_ROTATION: AuditLogLimits = { largestFileBytes: 1e9, mostPendingBytes: 1e6 };

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'longhaul-audit-')), 'audit');
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

const open = (limits = NO_ROTATION) => new AuditLog(folder, SECRET, QUIET, limits);
const verify = (options: VerifyOptions = { secret: SECRET }) => verifyAuditLog(folder, options);
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
/** A closed chain: opened, starts, closed. */
async function chain(starts: number): Promise<string> {
  const before = new Set(readdirSync(join(folder, '..')).includes('audit') ? files() : []);
  const log = open();
  start(log, starts);
  await log.close();
  return join(
    folder,
    files().find((name) => !before.has(name))!,
  );
}
const linesIn = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1);
const edit = (path: string, change: (lines: string[]) => string[]) =>
  writeFileSync(
    path,
    change(linesIn(path))
      .map((line) => `${line}\n`)
      .join(''),
  );

test('lines are private, in order, and verified by their own text', async () => {
  const path = await chain(3);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const lines = linesIn(path).map((text) => JSON.parse(text) as AuditLine);
  expect(lines.map(({ event, sequence }) => [event, sequence])).toEqual([
    ['log.opened', 1],
    ['operation.start', 2],
    ['operation.start', 3],
    ['operation.start', 4],
    ['log.closed', 5],
  ]);
  // As docs/audit.md has it, with nothing but a shell.
  const text = linesIn(path)[1]!.replace(/,"hash":.*/, '}');
  expect(execFileSync('sha256sum', { input: text }).toString().slice(0, 64)).toBe(lines[1]!.hash);
  const { problems, chains, areMacsChecked } = await verify();
  expect([problems, areMacsChecked]).toEqual([[], true]);
  expect(chains).toMatchObject([{ lines: 5, files: 1, end: 'closed', hash: lines[4]!.hash, missing: 0 }]);
  expect((await verify({})).areMacsChecked).toBe(false);
});

describe('verify finds', () => {
  test.each<[string, (lines: string[]) => string[], number, string, string]>([
    ['an edited line', (l) => l.map((x) => x.replace('op-2', 'op-9')), 3, 'the hash of its text', 'edited'],
    ['a removed line', (l) => l.toSpliced(2, 1), 3, 'sequence 3', '4: a line was removed'],
    ['two removed lines', (l) => l.toSpliced(2, 2), 3, 'sequence 3', '5: 2 lines were removed'],
    ['the first line removed', (l) => l.slice(1), 1, 'sequence 1', '2: a line was removed'],
    [
      'lines in another order',
      ([a, b, c, ...r]) => [a!, c!, b!, ...r],
      2,
      'sequence 2',
      '3: a line was removed or moved',
    ],
    [
      'a line inserted twice',
      ([a, b, ...r]) => [a!, b!, b!, ...r],
      3,
      'sequence 3',
      '2: the line was inserted',
    ],
    ['text', (l) => l.toSpliced(2, 0, 'hello'), 3, 'a line of an audit log', '"hello"'],
    [
      'a line without its hash',
      (l) => l.map((x, i) => (i === 2 ? x.replace(/,"hash.*/, '}') : x)),
      3,
      'a line of',
      '{',
    ],
    ['a line after the end', (l) => [...l, forged(l.at(-1)!, 'log.gap')], 6, 'mac', 'without the secret'],
  ])('%s', async (_what, change, line, expected, came) => {
    const path = await chain(3);
    edit(path, change);
    const [first] = (await verify()).problems;
    expect(first).toMatchObject({ file: path.split('/').at(-1), line });
    expect(first!.expected).toContain(expected);
    expect(first!.came).toContain(came);
  });

  /** A line that continues the chain, made without the secret. */
  function forged(after: string, event: 'log.gap' | 'operation.start'): string {
    const { sequence, hash } = JSON.parse(after) as AuditLine;
    const position = { time: new Date().toISOString(), sequence: sequence + 1, previous: hash };
    return formatLine({ event }, position, auditKeyOf(Buffer.alloc(32))).text;
  }

  test('a chain that was rebuilt without the secret', async () => {
    const path = await chain(3);
    edit(path, ([opened]) => {
      const one = forged(opened!, 'operation.start');
      return [opened!, one, forged(one, 'operation.start')];
    });
    expect((await verify({})).problems).toEqual([]);
    expect((await verify()).problems.map(({ line }) => line)).toEqual([2, 3]);
  });

  test('one edit as one problem, and the lines after it as they were written', async () => {
    const path = await chain(20);
    edit(path, (lines) => lines.map((line) => line.replace('"op-7"', '"op-8"')));
    expect((await verify()).problems).toHaveLength(1);
  });

  test('lines cut off the end, by the chain that began later', async () => {
    const path = await chain(3);
    await chain(1);
    edit(path, (lines) => lines.slice(0, -2));
    const { problems } = await verify();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ came: 'no such line' });
    expect(problems[0]!.expected).toMatch(
      /^line 5 of this chain with the hash [0-9a-f]{64}, to which .* refers$/,
    );
  });

  test('lines cut off the end, by a head that was kept', async () => {
    const path = await chain(3);
    const { hash } = (await verify()).chains[0]!;
    expect((await verify({ heads: [hash] })).problems).toEqual([]);
    edit(path, (lines) => lines.slice(0, -1));
    expect((await verify({ heads: [hash] })).problems).toEqual([
      { file: folder, expected: `a line with the hash ${hash}`, came: 'no such line' },
    ]);
  });

  test('a chain that was removed, unless it is old enough', async () => {
    rmSync(await chain(1));
    const first = await chain(1);
    await chain(1);
    rmSync(first);
    expect((await verify()).problems).toMatchObject([{ came: 'no such file' }]);
    const removedBefore = new Date(Date.now() + 1_000).toISOString();
    expect((await verify({ removedBefore })).problems).toEqual([]);
    expect((await verify({ removedBefore: '2026-01-01' })).problems).toHaveLength(1);
  });
});

describe('a process that was killed as it wrote', () => {
  test('leaves an incomplete line, which is no change', async () => {
    const log = open();
    start(log, 2);
    const path = join(folder, files()[0]!);
    truncateSync(path, statSync(path).size - 30);
    const { problems, chains } = await verify();
    expect([problems, chains]).toMatchObject([[], [{ end: 'torn', lines: 2 }]]);
    // The next process refers to the last complete line.
    await chain(1);
    expect((await verify()).problems).toEqual([]);
    edit(path, (lines) => lines.slice(0, -1));
    expect((await verify()).problems).toHaveLength(1);
    await log.close();
  });

  test('leaves an empty file, which is no change', async () => {
    const path = await chain(1);
    truncateSync(path, 0);
    expect(await verify()).toMatchObject({ problems: [], chains: [{ lines: 0 }] });
  });
});

describe('rotation', () => {
  const SMALL: AuditLogLimits = { largestFileBytes: 2_000, mostPendingBytes: 1e6 };

  test('continues the chain in further files', async () => {
    const log = open(SMALL);
    start(log, 20);
    await log.close();
    expect(files().length).toBeGreaterThan(3);
    const { problems, chains } = await verify();
    expect([problems, chains]).toMatchObject([[], [{ files: files().length, end: 'closed' }]]);
    expect(
      (await selectAuditLines(folder, { event: 'operation' })).map(({ operation }) => operation),
    ).toEqual(Array.from({ length: 20 }, (_, index) => `op-${index + 1}`));
  });

  test.each([
    ['first', 0],
    ['second', 1],
    ['last', -1],
  ])('a missing file, the %s, is found', async (_which, index) => {
    const log = open(SMALL);
    start(log, 20);
    await log.close();
    const name = files().at(index)!;
    rmSync(join(folder, name));
    const { problems } = await verify();
    expect(problems[0]).toMatchObject({ file: name, came: 'no such file' });
    const removedBefore = new Date(Date.now() + 1_000).toISOString();
    expect((await verify({ removedBefore })).problems.length > 0).toBe(index !== 0);
  });

  test('a file that is removed while it is written is continued in another, and found missing', async () => {
    const log = open();
    start(log, 1);
    await log.synced();
    const [name] = files();
    rmSync(join(folder, name!));
    start(log, 1);
    await expect(log.synced()).rejects.toThrow('removed from its folder');
    start(log, 1);
    await log.close();
    expect((await verify()).problems).toMatchObject([{ file: name, came: 'no such file' }]);
    expect((await selectAuditLines(folder, {})).map(({ event }) => event)).toEqual([
      'log.continued',
      'operation.start',
      'log.closed',
    ]);
  });
});

test('chains of several processes are apart, and refer to each other', async () => {
  const one = open();
  const other = open();
  start(one, 3);
  start(other, 3);
  await Promise.all([one.close(), other.close()]);
  await chain(1);
  const { problems, chains } = await verify();
  expect([problems, chains.length]).toEqual([[], 3]);
  const follows = linesIn(join(folder, files().at(-1)!))[0]!.match(/"chain"/g)!;
  expect(follows.length).toBeGreaterThanOrEqual(2);
});

test('lines of a chain keep their order when the clock is set back', async () => {
  jest.useFakeTimers({ now: Date.parse('2026-11-23T12:00:00Z') });
  try {
    const log = open();
    start(log, 1);
    jest.setSystemTime(Date.parse('2026-11-23T11:59:00Z'));
    log.append({ event: 'operation.cancel', operation: 'op-1', outcome: 'ok' });
    await log.close();
  } finally {
    jest.useRealTimers();
  }
  const found = await selectAuditLines(folder, { operation: 'op-1' });
  expect(found.map(({ event, time }) => [event, time])).toEqual([
    ['operation.start', '2026-11-23T12:00:00.000Z'],
    ['operation.cancel', '2026-11-23T11:59:00.000Z'],
  ]);
  expect((await verify()).problems).toEqual([]);
});

test('a folder that cannot be used is refused', () => {
  const path = join(folder, 'file');
  mkdirSync(folder);
  writeFileSync(path, '');
  expect(() => new AuditLog(path, SECRET, QUIET)).toThrow(
    `audit log ${path}: expected a folder that can be read and written; got `,
  );
  expect(() => new AuditLog('/proc/audit', SECRET, QUIET)).toThrow(
    'audit log /proc/audit: expected a folder',
  );
});

test('a folder without files of a log is a problem', async () => {
  mkdirSync(folder);
  expect((await verify()).problems).toEqual([
    { file: folder, expected: 'files of an audit log', came: 'no such file' },
  ]);
});

test('files of others in the folder are named, and left alone', async () => {
  await chain(1);
  writeFileSync(join(folder, 'notes.txt'), 'x');
  expect(await verify()).toMatchObject({ problems: [], others: ['notes.txt'] });
});

test('a file that is written to by others is found', async () => {
  const path = await chain(1);
  appendFileSync(path, 'x');
  // Without a line break it can be a line that was not written whole, in all but a closed chain.
  expect((await verify()).problems).toMatchObject([{ line: 4, expected: 'no line after log.closed' }]);
});
