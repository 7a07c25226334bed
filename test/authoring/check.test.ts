/** `longhaul check` of a whole project, as a process. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { check, tool, workflow } from './checked-project.js';

const TSCONFIG = JSON.stringify({
  compilerOptions: { target: 'es2023', module: 'nodenext', skipLibCheck: true, noEmit: true, types: [] },
  include: ['tools', 'workflows', 'activities'],
});

test('a project without a mistake: each file is listed with what it defines, and the exit code is 0', async () => {
  const { code, lines } = await check({
    'tools/brew.ts': tool('brew'),
    'workflows/brew.ts': workflow('brew'),
    'activities/brew.ts':
      'export async function pour(): Promise<void> {}\nsetInterval(() => undefined, 1_000);\n',
    'pipelines/nightly.yml': 'jobs: { a: { steps: [{ run: a }] } }',
  });
  expect(lines).toEqual([
    'tools/brew.ts: ok, tool brew',
    'workflows/brew.ts: ok, workflow brew',
    'activities/brew.ts: ok, activity pour',
    'pipelines/nightly.yml: ok, tool nightly, 1 job, 1 step',
    'types: not checked: there is no tsconfig.json',
  ]);
  expect(code).toBe(0);
});

test('all problems of all files are reported in one run, and the exit code is 1', async () => {
  const { code, lines } = await check({
    'tools/options.ts': tool('options', 'inputs: {},\n  deadline: 3,\n  annotations: { readOnly: true }'),
    'tools/throws.ts': "import { key } from '../lib/key.js';\n\nexport default key();\n",
    'lib/key.ts':
      "interface Key { key: string }\n\nexport function key(): Key {\n  throw new Error('no key');\n}\n",
    'tools/misspelt.ts': tool('misspelt'),
    'workflows/misspelt.ts': workflow('mispelt'),
    'workflows/options.ts': workflow('options') + 'export const broken = {',
    'workflows/values.ts': `import type * as activities from '../activities/work.js';
import { work } from '../activities/work.js';
export async function values() { return work(); }
export type Work = typeof activities;
`,
    'workflows/builtin.ts': `import { readFileSync } from 'fs';\nexport async function builtin() { return readFileSync('x'); }\n`,
    'workflows/unresolved.ts': `\nimport { x } from '../lib/nothing.js';\nexport async function unresolved() { return x; }\n`,
    'activities/work.ts':
      "import { cpus } from 'node:os';\nexport async function work() { return cpus().length; }\n",
    'activities/twice.ts': '\nexport async function work() {}\n',
    'pipelines/bad.yml': 'jobs: { a: { steps: [{ rnu: a }] } }',
  });
  const expectLine = (pattern: RegExp) => expect(lines).toContainEqual(expect.stringMatching(pattern));
  expectLine(/^tools\/options\.ts:9:3: tool "options": inputs: unknown option; did you mean "input"\?$/);
  expectLine(
    /^tools\/options\.ts:10:3: tool "options": deadline: unknown option; did you mean "deadlineSeconds"\?$/,
  );
  expectLine(
    /^tools\/options\.ts:11:18: tool "options": annotations\.readOnly: unknown option; did you mean "readOnlyHint"\?$/,
  );
  expectLine(/^tools\/throws\.ts:3: no key \(thrown at lib\/key\.ts:4\)$/);
  expectLine(
    /^tools\/misspelt\.ts:6:9: tool "misspelt": no file in workflows\/ exports a workflow "misspelt"; did you mean "mispelt"\?/,
  );
  expectLine(/^workflows\/options\.ts:\d+:\d+: /);
  expectLine(
    /^workflows\/values\.ts:2:\d+: a workflow can't import values of activities .* write import type \* as activities .*proxyActivities/,
  );
  expectLine(/^workflows\/builtin\.ts:1:\d+: a workflow can't import "fs"; do that work in an activity/);
  expectLine(/^workflows\/unresolved\.ts:2:\d+: .*Can't resolve '\.\.\/lib\/nothing\.js'/);
  expectLine(/^activities\/work\.ts:2:23: there is already an activity "work", in activities\/twice\.ts$/);
  expectLine(/^pipelines\/bad\.yml:1:\d+: .*rnu/);
  expect(code).toBe(1);
});

test('arguments for which clients refuse all tools are reported, though their tools are served', async () => {
  const { code, lines } = await check({
    'tools/brew.ts': tool(
      'brew',
      "input: {\n    type: 'object',\n    anyOf: [{}],\n    properties: { 'order.id': {}, fine: { anyOf: [{}] } },\n  }",
    ),
    'workflows/brew.ts': workflow('brew'),
    'tools/refund.yaml':
      'workflow: { type: Refund, task-queue: refunds }\ninput:\n  properties: { order id: {} }\n',
    'pipelines/nightly.yml': 'inputs:\n  oneOf: [true]\njobs: { a: { steps: [{ run: a }] } }',
    'pipelines/fine.yml':
      'inputs: { properties: { a: { oneOf: [true] }, b: false } }\njobs: { a: { steps: [{ run: a }] } }',
  });
  const consequence = 'makes some clients and model APIs refuse all tools of the server; expected';
  const name = 'a name of letters, digits, _ and -, at most 64 characters';
  const top = 'only properties at the top, with combinations inside them';
  expect(lines).toEqual(
    expect.arrayContaining([
      `tools/brew.ts:11:5: tool "brew": input.anyOf: ${consequence} ${top}`,
      `tools/brew.ts:12:19: tool "brew": input.properties["order.id"]: ${consequence} ${name}`,
      `tools/refund.yaml:3:17: input.properties.order id: ${consequence} ${name}`,
      `pipelines/nightly.yml:2:3: inputs.oneOf: ${consequence} ${top}`,
      'pipelines/fine.yml: ok, tool fine, 1 job, 1 step',
    ]),
  );
  expect(code).toBe(1);
});

test('types are checked with the TypeScript of the project: file and line', async () => {
  const { code, lines } = await check({
    'tools/brew.ts': tool('brew'),
    'workflows/brew.ts': workflow('brew'),
    'activities/brew.ts': "\nexport const cups: number = 'two';\n",
    'tsconfig.json': TSCONFIG,
  });
  expect(lines).toContainEqual(
    "activities/brew.ts:2:14: TS2322: Type 'string' is not assignable to type 'number'.",
  );
  expect(lines.at(-1)).toMatch(/^types: checked with TypeScript \d/);
  expect(code).toBe(1);
});

test('programs get JSON', async () => {
  const { code, lines } = await check({ 'tools/brew.ts': tool('brew') }, '--json');
  const message = expect.stringContaining('no file in workflows/');
  expect(JSON.parse(lines.join(''))).toEqual({
    ok: false,
    files: [
      {
        ...{ file: 'tools/brew.ts', ok: false, gives: 'tool brew', tool: 'brew' },
        problems: [{ path: 'tools/brew.ts', line: 6, column: 9, message }],
      },
    ],
    types: { checked: false, detail: expect.stringContaining('there is no') },
  });
  expect(code).toBe(1);
});

test('nothing to check, or a file of code alone, is wrong usage', async () => {
  expect(await check({})).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing to check') });
  expect(await check({ 'tools/brew.ts': tool('brew') }, 'tools/brew.ts')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('checked with its whole project: longhaul check'),
  });
});

const PIPELINE = 'jobs:\n  one: { steps: [{ run: a }, { run: b }] }\n  two: { steps: [{ run: c }] }\n';

test('files of pipelines are checked by themselves, and a folder stands for those in it', async () => {
  const files = {
    'bad.yml': `on: push\n${PIPELINE}ifs: 1\n`,
    'some/a.yml': PIPELINE,
    'some/b.yaml': PIPELINE,
  };
  const others = { 'some/notes.txt': 'not a pipeline', 'some/deeper/c.yml': 'not a pipeline' };
  const { code, lines } = await check({ ...files, ...others }, 'bad.yml', 'some', 'missing.yml');
  expect(lines).toEqual([
    expect.stringMatching(/^bad\.yml:1:1: on: unknown/),
    expect.stringMatching(/^bad\.yml:5:1: ifs: unknown/),
    'some/a.yml: ok, tool a, 2 jobs, 3 steps',
    'some/b.yaml: ok, tool b, 2 jobs, 3 steps',
    expect.stringMatching(/^missing\.yml:1:1: no such/),
  ]);
  expect(code).toBe(1);
});

test('--schema prints the schema for editors', async () => {
  const { code, lines } = await check({}, '--schema');
  expect(JSON.parse(lines.join('\n'))).toEqual(
    JSON.parse(readFileSync('pipelines/pipeline.schema.json', 'utf8')),
  );
  expect(code).toBe(0);
});
