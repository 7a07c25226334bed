import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readLogPage, type PageQuery } from '../../engine/logs/index.js';
import type { LogLine, LogLines } from '../../operations/wire/log-page.js';
import { ChunkedLog } from '../../platform/storage/chunked-log.js';
import { stepLogPrefix } from '../../platform/storage/keys.js';
import { folderStorage } from '../../platform/storage/index.js';

const folder = mkdtempSync(join(tmpdir(), 'longhaul-logs-'));
const storage = folderStorage(folder);
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
let prefix: string;
beforeEach(() => {
  count += 1;
  prefix = stepLogPrefix('an operation', `job ${count}`, 1);
});

const open = () => new ChunkedLog(storage, prefix);
const write = (text: string | Buffer) => open().append(() => Buffer.from(text as string));
const page = (query: PageQuery = {}) => readLogPage(open(), query);
const texts = ({ lines }: LogLines) => lines.map(({ text }) => text);
const numbers = ({ lines }: LogLines) => lines.map(({ number }) => number);
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`);
const raw = (lines: LogLine[]) =>
  lines.map(({ text, isUnfinished }) => (isUnfinished ? text : `${text}\n`)).join('');

/** Pages on until nothing more comes. */
async function rest(query: PageQuery): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for (let at = query; ;) {
    const next = await page(at);
    lines.push(...next.lines);
    if (next.isAtEnd || next.cursor === undefined) return lines;
    at = { isComplete: query.isComplete ?? false, cursor: next.cursor };
  }
}

describe('a page', () => {
  test('has at most 200 lines, and its cursor continues behind it', async () => {
    await write(`${numbered(1, 450).join('\n')}\n`);
    const first = await page({ isComplete: true });
    expect(numbers(first)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    const second = await page({ isComplete: true, cursor: first.cursor });
    expect(second.lines[0]).toEqual({ number: 201, text: 'line 201' });
    expect(second.isAtEnd).toBe(false);
    const third = await page({ isComplete: true, cursor: second.cursor });
    expect(texts(third)).toEqual(numbered(401, 450));
    expect(third).toMatchObject({ isAtEnd: true, isComplete: true });
    expect(third).not.toHaveProperty('cursor');
  });

  test('has at most 16 KiB of text', async () => {
    await write(`${'x'.repeat(999)}\n`.repeat(100));
    const { lines } = await page();
    expect(lines).toHaveLength(16);
    expect((await page({ limit: 3 })).lines).toHaveLength(3);
  });

  test('begins and ends at the lines that are asked for', async () => {
    await write(`${numbered(1, 900).join('\n')}\n`);
    const between = await page({ fromLine: 500, toLine: 503 });
    expect(texts(between)).toEqual(numbered(500, 503));
    expect(between).not.toHaveProperty('cursor');
    const lines = await rest({ fromLine: 301, toLine: 750 });
    expect(lines.map(({ text }) => text)).toEqual(numbered(301, 750));
  });

  test('of a line over 4 KiB is a piece of it: nothing is left out', async () => {
    const long = 'ä'.repeat(30_000);
    await write(`a\n${long}\nb\n`);
    const lines = await rest({ isComplete: true });
    expect(raw(lines)).toBe(`a\n${long}\nb\n`);
    expect(lines[1]).toMatchObject({ number: 2, isUnfinished: true });
    expect(lines[2]).toMatchObject({ number: 2, isContinued: true, isUnfinished: true });
    expect(lines.at(-1)).toEqual({ number: 3, text: 'b' });
    expect(Math.max(...lines.map(({ text }) => Buffer.byteLength(text)))).toBeLessThanOrEqual(4096);
  });

  test('of nothing is empty, and of what was never stored an error', async () => {
    await expect(page()).rejects.toMatchObject({ kind: 'not_found' });
    expect(await page({ mayBeMissing: true })).toMatchObject({ lines: [], totalBytes: 0, isAtEnd: true });
    expect((await page({ mayBeMissing: true, tail: 3 })).lines).toEqual([]);
  });
});

describe('tail', () => {
  test('gives the last lines with their numbers, with a newline at the end or without', async () => {
    await write(numbered(1, 5000).join('\n'));
    expect(await page({ tail: 2 })).toMatchObject({
      lines: [
        { number: 4999, text: 'line 4999' },
        { number: 5000, text: 'line 5000', isUnfinished: true },
      ],
      isAtEnd: true,
    });
    await write('\n');
    expect(texts(await page({ tail: 2 }))).toEqual(numbered(4999, 5000));
    expect((await page({ tail: 200 })).lines).toHaveLength(200);
  });

  test('gives what fits a page, and the end of a last line that does not', async () => {
    await write(`${'x'.repeat(5000)}\n`.repeat(10));
    const tail = await page({ tail: 10 });
    expect(tail.lines[0]!.number).toBe(8);
    expect(tail.lines.at(-1)!.number).toBe(10);
    await write(`${'ä'.repeat(50_000)}end`);
    const lines = (await page({ tail: 1 })).lines;
    expect(lines[0]).toMatchObject({ number: 11, isContinued: true });
    expect(lines[0]!.text).not.toContain('\ufffd');
    expect(raw(lines)).toMatch(/ää.*end$/);
  });
});

describe('a growing log', () => {
  test('shows a character once it is whole, and what never becomes one as U+FFFD', async () => {
    const euro = Buffer.from('€');
    await write(Buffer.concat([Buffer.from('a'), euro.subarray(0, 2)]));
    const first = await page();
    expect(first).toMatchObject({ lines: [{ text: 'a' }], isAtEnd: true });
    expect(await page({ cursor: first.cursor })).toMatchObject({ lines: [], isAtEnd: true });
    expect(texts(await page({ cursor: first.cursor, isComplete: true }))).toEqual(['\ufffd']);
    await write(Buffer.concat([euro.subarray(2), Buffer.from('b')]));
    expect(texts(await page({ cursor: first.cursor }))).toEqual(['€b']);
  });

  test('read while it is written in any portions, is read whole and once', async () => {
    const pieces = [
      'plain\n',
      'ä€😀',
      '\n',
      '\r\n',
      'x'.repeat(5000),
      Buffer.from([0xff, 0xe2, 0x82]),
      '\0\u001b[31m',
    ];
    for (let round = 0; round < 25; round += 1) {
      prefix = stepLogPrefix('any portions', `round ${round}`, 1);
      const whole = Buffer.concat(
        Array.from({ length: 300 }, () =>
          Buffer.from(pieces[Math.floor(Math.random() * pieces.length)] as string),
        ),
      );
      const lines: LogLine[] = [];
      let cursor: string | undefined;
      for (let at = 0; at < whole.length;) {
        const size = Math.ceil(Math.random() * (Math.random() < 0.5 ? 5 : 60_000));
        await write(whole.subarray(at, at + size));
        at += size;
        const next = await page({ cursor, limit: Math.ceil(Math.random() * 200) });
        lines.push(...next.lines);
        cursor = next.cursor;
      }
      lines.push(...(await rest({ isComplete: true, cursor })));
      const expected = whole.toString();
      expect(raw(lines) === expected).toBe(true);
      const ends = expected.split('\n');
      const byNumber = new Map<number, string>();
      for (const { number, text } of lines) byNumber.set(number, (byNumber.get(number) ?? '') + text);
      expect([...byNumber.values()].join('\n')).toBe(
        (ends.at(-1) === '' ? ends.slice(0, -1) : ends).join('\n'),
      );
    }
  });
});

describe('a pattern', () => {
  test('finds lines by a regular expression, page by page', async () => {
    await write(`${numbered(1, 10_000).join('\n')}\n`);
    expect(numbers(await page({ pattern: '^line 9{2,3}$' }))).toEqual([99, 999]);
    const lines = await rest({ pattern: '7$', fromLine: 101, toLine: 9_000, isComplete: true });
    expect(lines).toHaveLength(890);
    expect(lines[0]).toEqual({ number: 107, text: 'line 107' });
    expect(lines.at(-1)).toEqual({ number: 8997, text: 'line 8997' });
  });

  test('finds nothing in a last line before it has ended, and then finds it', async () => {
    await write('a\nerr');
    const first = await page({ pattern: 'error' });
    expect(first).toMatchObject({ lines: [], isAtEnd: true });
    await write('or\nb\n');
    const second = await page({ cursor: first.cursor });
    expect(second.lines).toEqual([{ number: 2, text: 'error' }]);
    await write('last error');
    expect(texts(await page({ cursor: second.cursor, isComplete: true }))).toEqual(['last error']);
  });

  test('in a long line shows what is around it, and how long the line is', async () => {
    await write(`${'😀'.repeat(30_000)}needle${'€'.repeat(30_000)}\n`);
    const { lines } = await page({ pattern: 'needle' });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ number: 1, isContinued: true, isUnfinished: true, lineBytes: 210_006 });
    expect(lines[0]!.text).toMatch(/^(😀)+needle€+$/u);
    expect(Buffer.byteLength(lines[0]!.text)).toBeLessThanOrEqual(4096);
  });

  test('that would run for ever is ended, and nothing stands still meanwhile', async () => {
    await write(`${'a'.repeat(60)}\n`);
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 20);
    await expect(page({ pattern: '^(a+)+$b' })).rejects.toMatchObject({
      kind: 'invalid_arguments',
      message: expect.stringContaining('pattern: takes too long'),
    });
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(20);
    expect(texts(await page({ pattern: '^a+$' }))).toEqual(['a'.repeat(60)]);
  });
});

test.each<[PageQuery, string]>([
  [{ cursor: 'nonsense' }, 'cursor: expected one from an earlier page'],
  [{ cursor: Buffer.from('{"line":1,"offset":99}').toString('base64url') }, 'cursor: expected one'],
  [{ pattern: '(' }, 'pattern: Invalid regular expression'],
  [{ tail: 0 }, 'tail: expected a whole number from 1 to 200; got 0'],
  [{ tail: 2, fromLine: 3 }, "tail: can't be used with"],
  [{ fromLine: 3, toLine: 2 }, 'last line: expected 3 or more'],
])('%j is refused, saying what was expected', async (query, message) => {
  await write('a\n');
  await expect(page(query)).rejects.toMatchObject({
    kind: 'invalid_arguments',
    message: expect.stringContaining(message),
  });
});
