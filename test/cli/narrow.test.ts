/** Narrow terminals, and characters that are two columns wide. */
import { beforeAll, expect, test } from '@jest/globals';
import { statusLine } from '../../cli/terminal/status-line.js';
import { textTable } from '../../cli/terminal/table.js';
import { widthOf } from '../../cli/terminal/text-width.js';
import type { Task } from '../../cli/client/wire.js';
import { PipelineProject } from '../pipelines/support.js';
import { run, Terminal, type TerminalOptions } from './commands.js';

const WIDE = '東京の天気予報を集めて比べる';
const PIPELINES = {
  wide: `
description: Gathers forecasts.
jobs:
  gather:
    steps:
      - { name: ${WIDE}, run: sleep 1 }
      - { name: A step whose name has many words in it, run: exit 3 }
  compare:
    needs: gather
    steps:
      - { name: Compare, run: "true" }
`,
};

const project = PipelineProject.ofFile(PIPELINES);
let token: string;
beforeAll(async () => {
  token = await project.client.start('wide', {});
});

/** The lines that a command shows on a terminal. */
async function linesAt(options: TerminalOptions, ...args: string[]): Promise<string[]> {
  const terminal = new Terminal(project.parts, args, options);
  await terminal.ended;
  return terminal.screen.split(/\r?\n/).map((line) => line.split('\r').at(-1)!);
}

/** Lines that the terminal would wrap, but for words that are wider than itself and printed commands. */
function tooWide(lines: string[], columns: number): string[] {
  return lines.filter(
    (line) => widthOf(line) > columns && /\S\s+\S/.test(line) && !/longhaul|^Usage|^There are/.test(line),
  );
}

test.each([['list'], ['tools'], ['status'], ['call', 'slow_compute', '--help']])(
  'at 20 columns, %s is not wrapped by the terminal',
  async (...words) => {
    const args = words[0] === 'status' ? ['status', token] : words;
    if (words[0] === 'status') await run(project.parts, ['result', token, '--wait']);
    const lines = await linesAt({ columns: 20 }, ...args);
    const checked = words[0] === 'call' ? lines.filter((line) => line.startsWith('  --')) : lines;
    expect(checked.length).toBeGreaterThan(2);
    // An address is not cut: terminals and people copy it whole.
    expect(tooWide(checked, 20).filter((line) => !line.includes('http://'))).toEqual([]);
  },
);

test('the line of a running operation keeps its share and its time, and is redrawn in place', async () => {
  const columns = 30;
  const args = ['call', 'slow_compute', '--seconds', '3', '--label', WIDE];
  const terminal = new Terminal(project.parts, args, { columns });
  await terminal.shows(/⠋ .*\d+%.* \(\d+s\)/);
  await terminal.ended;
  const drawn = terminal.screen.split(/\r\n?|\n/).filter((line) => /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] /.test(line));
  expect(drawn.length).toBeGreaterThan(5);
  expect(drawn.filter((line) => widthOf(line) >= columns)).toEqual([]);
});

test('a table that fits has its columns below each other, by what the terminal shows', () => {
  const table = textTable(
    [
      ['NAME', 'STATUS', 'NOTE'],
      ['東京', 'completed', 'a'],
      ['Rome', 'failed', 'b'],
    ],
    40,
  );
  const [, wide, narrow] = table.split('\n').map((line) => line.replaceAll(/[東京]/g, '$&_'));
  expect(wide!.indexOf('completed')).toBe(narrow!.indexOf('failed'));
  expect(wide!.indexOf(' a')).toBe(narrow!.indexOf(' b'));
});

test('one that does not fit has a paragraph for each row, with whole cells and words', () => {
  const rows = [
    ['TOKEN', 'TOOL', 'STARTED'],
    ['a'.repeat(27), 'slow_compute', '2026-11-21T12:36:10Z'],
  ];
  expect(textTable(rows, 30).split('\n')).toEqual([
    'TOKEN  TOOL  STARTED',
    'a'.repeat(27),
    '    slow_compute',
    '    2026-11-21T12:36:10Z',
  ]);
});

test('a file or a pipe gets every row on one line, whatever COLUMNS says', async () => {
  const options = { environment: { COLUMNS: '20' } };
  const { stdout } = await run(project.parts, ['list', '--tool', 'wide'], options);
  expect(stdout).toMatch(new RegExp(`^${token}  wide +\\S+ +.*\\d+s$`, 'm'));
});

test('COLUMNS makes a terminal narrower', async () => {
  expect(tooWide(await linesAt({ columns: 100, environment: { COLUMNS: '30' } }, 'list'), 30)).toEqual([]);
});

test('a status line fits every width', () => {
  const task = {
    taskId: 't',
    status: 'working',
    createdAt: new Date(0).toISOString(),
    _meta: { 'longhaul/progress': { progress: 4, total: 9, message: WIDE, stage: WIDE } },
  } as unknown as Task;
  for (let columns = 12; columns <= 120; columns += 1) {
    const line = statusLine(task, 0, 75_000, columns);
    expect(widthOf(line)).toBeLessThan(columns);
    if (columns >= 16) expect(line).toMatch(/44%.* \(1m 15s\)$/);
  }
});
