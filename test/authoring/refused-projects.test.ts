/** Projects that can not be served, and calls whose arguments don't fit. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

const folders: string[] = [];
let parts: TestStack;
beforeAll(async () => {
  // Its own project, whose tools have odd arguments.
  parts = await TestStack.start({ LONGHAUL_PROJECT: resolve('test/authoring/project') });
}, PROCESSES_MS);
afterAll(async () => {
  await parts?.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe('a project that can not be served ends the process with 1 and one line that names the file:', () => {
  /** Starts the server, or the worker, on a project of these files; gives its last words. */
  async function lastWords(command: 'server' | 'worker', files: Record<string, string>): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-project-'));
    folders.push(folder);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const part = parts.run(command, { LONGHAUL_PROJECT: folder, LONGHAUL_SHIPPED_TOOLS: 'false' });
    const [code] = (await once(part.process, 'close')) as [number];
    expect(code).toBe(1);
    const lines = part
      .output()
      .split('\n')
      .filter((line) => line && !line.startsWith('{'));
    expect(lines).toHaveLength(1);
    return lines[0]!.replaceAll(`${folder}/`, '');
  }

  const tool = (name: string, properties = '{}') =>
    `import { defineTool } from 'longhaul';
     export default defineTool({ name: '${name}', description: { does: 'x' }, estimate: { seconds: 1 },
       input: { type: 'object', properties: ${properties} } });`;

  test.each([
    [
      'a reserved argument',
      { 'tools/x.ts': tool('x', '{ wait: {} }') },
      `longhaul: tools/x.ts can't be loaded: tool "x": input.wait: the name is reserved for every tool's calls; choose another`,
    ],
    [
      'no tool in a file',
      { 'tools/x.ts': 'export const a = 1;' },
      'longhaul: tools/x.ts: expected a default export made by defineTool()',
    ],
    [
      'one name twice',
      { 'tools/x.ts': tool('x'), 'tools/y.ts': tool('x') },
      'longhaul: tools/y.ts: there is already a tool "x", in tools/x.ts',
    ],
    [
      'a syntax error',
      { 'tools/x.ts': 'export default {' },
      "longhaul: tools/x.ts can't be loaded: ParseError: Unexpected token tools/x.ts:1:16",
    ],
    [
      'an import that is not there',
      { 'tools/x.ts': 'export { default } from "./nope.js";' },
      "longhaul: tools/x.ts can't be loaded: Cannot find module './nope.js'",
    ],
  ])('%s', async (_what, files, words) => {
    expect(await lastWords('server', files)).toBe(words);
  });

  test.each([
    [
      'a syntax error in a workflow',
      { 'workflows/x.ts': 'export async function x() { return {' },
      /workflows\/x\.ts: Unexpected token `<eof>`.*\(workflows\/x\.ts:1:/,
    ],
    [
      'a workflow that imports what it must not',
      { 'workflows/x.ts': "import fs from 'node:fs';\nexport const x = async () => fs.readdirSync('.');" },
      /workflows\/x\.ts: a workflow can't import "node:fs"; do that work in an activity/,
    ],
    [
      'an export of two workflow files',
      { 'workflows/x.ts': 'export const a = 1;', 'workflows/y.ts': 'export const a = 2;' },
      /workflows\/y\.ts: there is already an export "a", in workflows\/x\.ts/,
    ],
    [
      'an activity twice',
      { 'activities/x.ts': 'export function a() {}', 'activities/y.ts': 'export function a() {}' },
      /activities\/y\.ts: there is already an activity "a", in .*activities\/x\.ts/,
    ],
  ])('%s', async (_what, files, words) => {
    expect(await lastWords('worker', files)).toMatch(words);
  });
});

describe('arguments are checked before anything starts, and the answer says', () => {
  const problemsOf = async (args: object) => {
    const { result } = await parts.client.request('tools/call', { name: 'order', arguments: args });
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'longhaul/error': { kind: 'invalid_arguments' } },
    });
    return (result.content[0].text as string).split('\n');
  };
  const line = { item: 'tea', count: 2 };

  test.each([
    ['what is missing', { size: 'small' }, ['arguments: missing "lines"']],
    [
      'which values there are',
      { size: 'huge', lines: [] },
      ['arguments.size: expected one of "small", "large"; got "huge"'],
    ],
    [
      'where in a list the problem is',
      { size: 'small', lines: [line, { item: 'milk', count: 0 }] },
      ['arguments.lines[1].count: expected minimum 1; got 0'],
    ],
    [
      'what type was expected',
      { size: 'small', lines: 'tea' },
      ['arguments.lines: expected array; got "tea"'],
    ],
    [
      'which argument is unknown',
      { size: 'small', lines: [], color: 'red' },
      ['arguments.color: unknown; remove it'],
    ],
    [
      'everything at once',
      { size: 1, lines: [{ item: 'x' }] },
      [
        'arguments.size: expected one of "small", "large"; got 1',
        'arguments.lines[0].item: expected minLength 2; got "x"',
      ],
    ],
  ])('%s', async (_what, args, problems) => {
    expect(await problemsOf(args)).toEqual(expect.arrayContaining(problems));
  });

  test('nothing when they fit; defaults are filled in, also in lists', async () => {
    const { result } = await parts.client
      .with({})
      .request('tools/call', { name: 'order', arguments: { size: 'small', lines: [{ item: 'tea' }] } });
    expect(result.structuredContent.result).toEqual({
      size: 'small',
      lines: [{ item: 'tea', count: 1 }],
      express: false,
    });
  });
});
