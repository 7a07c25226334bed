import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { TestStack } from '../support/test-stack.js';
import { KEYS, run, Terminal } from './commands.js';

let parts: TestStack;
let terminal: Terminal | undefined;
beforeAll(async () => {
  // Its own project, whose tools take every kind of argument.
  parts = await TestStack.start({ LONGHAUL_PROJECT: resolve('test/cli/project') });
});
// One that a failed test leaves open keeps Jest running.
afterEach(() => terminal?.kill());
afterAll(() => parts.stop());

async function echoed(...flags: string[]): Promise<unknown> {
  const { stdout, stderr } = await run(parts, ['call', 'echo_back', ...flags]);
  return stdout ? (JSON.parse(stdout) as unknown) : stderr.trim();
}

test('flags of every kind become arguments of the right type', async () => {
  const flags = ['--text', '-5', '--count=3', '--ratio', '-0.5', '--is-loud', '--color', 'red'];
  const lists = ['--tag-list', 'a', '--tag-list', 'b', '--options', '{"deep": [1]}'];
  expect(await echoed(...flags, ...lists)).toEqual({
    text: '-5',
    count: 3,
    ratio: -0.5,
    isLoud: true,
    color: 'red',
    tag_list: ['a', 'b'],
    options: { deep: [1] },
  });
});

test('the literal name, kebab-case, --no- and true or false are all understood', async () => {
  expect(await echoed('--text=x', '--tag_list', '["a, b"]', '--no-is-loud')).toMatchObject({
    tag_list: ['a, b'],
    isLoud: false,
  });
  expect(await echoed('--text', 'x', '--isLoud', 'false', '--version', '7')).toMatchObject({
    isLoud: false,
    version: '7',
  });
});

test("an argument named like a flag of Longhaul's own is given as --arg-NAME", async () => {
  expect(await echoed('--text=x', '--arg-json', 'y')).toMatchObject({ json: 'y' });
  expect((await run(parts, ['call', 'echo_back', '--help'])).stdout).toContain('--arg-json <string>');
});

test.each([
  [['--color', 'blue'], '--color: expected red|green; got "blue"'],
  [['--count', '1.5'], '--count: expected integer; got "1.5"'],
  [['--count', '10'], 'arguments.count: expected maximum 9; got 10'],
  [['--count', '9007199254740993'], '--count: expected a number that keeps its digits'],
  [['--ratio', '1e400'], '--ratio: expected a number that keeps its digits'],
  [
    ['--options', '{"deep": [0, 9007199254740993]}'],
    '--options.deep.1: expected a number that keeps its digits',
  ],
  [['--options', '[1]'], '--options: expected JSON object; got "[1]"'],
  [['--no-text'], '--no-text: unknown'],
  [['loose'], 'expected flags such as --text; got "loose"'],
])('%s is refused, saying what was expected', async (flags, message) => {
  expect(await echoed('--text=x', ...flags)).toContain(message);
});

test('a file of arguments is refused for a number that would be rounded, and for bytes that are no UTF-8', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'longhaul-args-')), 'args.json');
  for (const [content, message] of [
    [
      '{"text":"x","options":{"id":9007199254740993}}',
      '--args.options.id: expected a number that keeps its digits',
    ],
    [
      Buffer.from('{"text":"Zo\u00eb"}', 'latin1'),
      `--args: expected text in UTF-8 in ${file}; got other bytes`,
    ],
  ] as const) {
    writeFileSync(file, content);
    expect(await echoed('--args', file)).toContain(message);
  }
  rmSync(dirname(file), { recursive: true });
});

test('a form of every kind of field is filled in at a terminal', async () => {
  terminal = new Terminal(parts, ['call', 'survey']);
  await terminal.at('◆  What would you like?', KEYS.enter);
  await terminal.at('name', 'A', KEYS.enter);
  await terminal.at('minLength 2', 'l', KEYS.enter);
  await terminal.at('age', 'x', KEYS.enter);
  await terminal.at('expected integer', '\u007f', '4', '2', KEYS.enter);
  await terminal.at('member', KEYS.left, KEYS.enter);
  await terminal.at('Large', KEYS.down, KEYS.enter);
  await terminal.at('sauce', KEYS.space, KEYS.down, KEYS.down, KEYS.space, KEYS.enter);
  await terminal.at('note (optional)', KEYS.enter);
  const shown = await terminal.shows(/\{"action".*\}/);
  expect(await terminal.ended).toBe(0);
  expect(JSON.parse(shown.split('\n')[0]!)).toEqual({
    action: 'accept',
    content: { name: 'Al', age: 42, member: true, size: 'l', toppings: ['nuts', 'sauce'] },
  });
});
