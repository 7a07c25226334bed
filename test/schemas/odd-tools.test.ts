/** One tool with an odd schema, or one that can't be used, takes no other tool away: on no protocol, route or command. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { run } from '../cli/commands.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { refusedForms } from './forms.js';
import { LISTINGS, listings } from './listings.js';

const code = (name: string, input: string) => `import { defineTool } from 'longhaul';
export default defineTool({
  name: '${name}', description: { does: 'Works.' }, estimate: { seconds: 1 },
  input: ${input},
});
`;
const FILES: Record<string, string> = {
  'package.json': '{"type":"module"}',
  'pipelines/booleans.yml': `
inputs: { properties: { a: true, b: false, c: { type: array, items: { anyOf: [true, { not: false }] } } } }
outputs: { given: { value: echo.given, anyOf: [true] } }
jobs:
  echo:
    outputs: [given]
    steps: [{ run: 'echo "given=$INPUT_A" >> "$LONGHAUL_OUTPUT"' }]
`,
  'pipelines/reserved.yml': `
inputs: { allOf: [{ properties: { wait: { type: boolean } } }] }
jobs: { a: { steps: [{ run: 'true' }] } }
`,
  'pipelines/types.yml': `
inputs: { properties: { a: { type: [] } } }
jobs: { a: { steps: [{ run: 'true' }] } }
`,
  'tools/external.yaml': `
workflow: { type: Elsewhere, task-queue: elsewhere }
input: { properties: { a: true, 'order id': false }, anyOf: [true] }
output: { type: [string, 'null'] }
`,
  'tools/boolean.ts': code('boolean', "{ type: 'object', properties: { a: true, b: false } }"),
  'tools/malformed.ts': code('malformed', "{ type: 'object', properties: { a: null, b: { enum: 5 } } }"),
  'tools/elsewhere.ts': code(
    'elsewhere',
    "{ type: 'object', properties: { a: { $ref: 'https://x.org/a' } } }",
  ),
  'tools/handmade.ts':
    "export default { name: 'handmade', inputSchema: { type: 'object', properties: { a: null } } };",
  // Its title can't be read, so that it can't be listed.
  'tools/untitled.ts': code('untitled', "{ type: 'object', properties: {} }")
    .replace(
      'export default defineTool(',
      "const title = { get: () => { throw new Error('no title'); } };\nexport default Object.defineProperty({ ...defineTool(",
    )
    .replace(/\);\n$/, ") }, 'title', title);\n"),
};
const USABLE = ['boolean', 'booleans', 'external'];
const PROBLEMS = [
  /pipelines\/reserved\.yml:1:1: tool "reserved": input\.wait: the name is reserved/,
  /pipelines\/types\.yml:2:\d+: inputs\.properties\.a\.type: expected at least one type/,
  /tools\/malformed\.ts:\d+:\d+: tool "malformed": input\.properties\.a: expected a schema: an object, true or false; got null/,
  /tools\/malformed\.ts:\d+:\d+: tool "malformed": input\.properties\.b\.enum: expected a list of values; got 5/,
  /tools\/elsewhere\.ts:\d+:\d+: tool "elsewhere": input\.properties\.a\.\$ref: expected a reference within the schema/,
  /tools\/handmade\.ts: expected a default export made by defineTool\(\)/,
  /tool "untitled" can't be shown: no title/,
];

const project = temporaryFolder('odd');
for (const [name, text] of Object.entries(FILES)) {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text);
}
// A server of its own: its project is full of mistakes.
const stack = await forAllTests(
  TestStack.serverOnSharedWorker({
    LONGHAUL_PROJECT: project,
    LONGHAUL_PIPELINE_FOLDERS: join(project, 'pipelines'),
  }),
);

const get = (path: string) => fetch(`${stack.base}${path}`);
const plain = () => stack.client.with({});

describe('among tools that cannot be used', () => {
  test('every protocol lists all others, in forms that all known clients take, and names the problems', async () => {
    const all = await listings(stack);
    expect(all).toHaveLength(LISTINGS);
    for (const { name: listing, tools, problems } of all) {
      const names = tools.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining([...USABLE, 'analyze_dataset', 'operation_get']));
      for (const broken of ['reserved', 'types', 'malformed', 'elsewhere', 'handmade', 'untitled'])
        expect([listing, names]).not.toEqual([listing, expect.arrayContaining([broken])]);
      for (const { inputSchema, outputSchema = {} } of tools)
        expect([listing, refusedForms(inputSchema), refusedForms(outputSchema)]).toEqual([listing, [], []]);
      for (const problem of PROBLEMS) expect(problems).toContainEqual(expect.stringMatching(problem));
      expect(problems).toHaveLength(PROBLEMS.length);
    }
  });

  test('the server is ready, and lists, documents and describes all others', async () => {
    expect((await get('/readyz')).status).toBe(200);
    for (const path of [
      '/v1/tools',
      '/openapi.json',
      '/v1/tools?format=openai',
      '/v1/tools?format=anthropic',
    ]) {
      const response = await get(path);
      expect([path, response.status]).toEqual([path, 200]);
      const text = await response.text();
      for (const name of USABLE) expect(text).toContain(`"${name}"`);
    }
    for (const name of USABLE) {
      expect(((await (await get(`/v1/tools/${name}`)).json()) as { name: string }).name).toBe(name);
      const { result } = await plain().request('resources/read', { uri: `longhaul://tools/${name}` });
      expect(result.contents[0].text).toContain(`# ${name}`);
    }
  });

  test('the command line lists, documents and describes all others', async () => {
    const { code: listed, stdout, stderr } = await run(stack, ['tools']);
    expect(listed).toBe(0);
    for (const name of USABLE) expect(stdout).toMatch(new RegExp(`^${name} `, 'm'));
    for (const problem of PROBLEMS) expect(stderr).toMatch(problem);
    for (const name of USABLE) {
      const help = await run(stack, ['call', name, '--help']);
      expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('--a <JSON or text>')]);
      const document = await run(stack, ['tools', name]);
      expect([document.code, document.stdout]).toEqual([0, expect.stringContaining(`# ${name}`)]);
    }
  });

  test('a call of a tool that cannot be used says why', async () => {
    const { error, result } = await plain().call('malformed', {});
    expect(JSON.stringify(error ?? result)).toContain('input.properties.a: expected a schema');
  });

  test('a pipeline takes any value for true, and none for false', async () => {
    const call = (args: object) => plain().call('booleans', { wait: true, ...args });
    const { result } = await call({ a: 'anything', c: [1, 'x'] });
    expect(result.structuredContent.result).toEqual({ given: 'anything' });
    const { result: refused } = await call({ b: 1 });
    expect(refused).toMatchObject({ isError: true });
    expect(refused.content[0].text).toContain('arguments.b: unknown; remove it');
  });
});

describe('a tool whose schemas have odd forms', () => {
  let shared: TestStack;
  let official: Client;
  beforeAll(async () => {
    shared = await TestStack.shared();
    official = new Client({ name: 'odd', version: '1' });
    await official.connect(new StreamableHTTPClientTransport(new URL(shared.client.url)));
  });
  afterAll(async () => {
    await official?.close();
    await shared?.stop();
  });
  const call = async (args: object) => {
    const { result } = await shared.client.with({}).call('odd_schema', { wait: true, ...args });
    return result;
  };

  test("is listed to the official client with all others, and its result fits the client's own check", async () => {
    const { tools } = await official.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['odd_schema', 'greet']));
    const args = {
      anything: { a: [1] },
      pair: ['a', 1],
      rest: ['a', 1, 2],
      note: null,
      color: 'red',
      wait: true,
    };
    const { structuredContent } = await official.callTool({ name: 'odd_schema', arguments: args });
    const { wait: _wait, ...got } = args;
    expect(structuredContent).toMatchObject({ status: 'completed', result: { got, pair: ['a', 1] } });
  });

  test.each<[args: object, problem: string]>([
    [{ nothing: 1 }, 'arguments.nothing: unknown; remove it'],
    [{ pair: ['a', 1, 2] }, 'arguments.pair[2]: unknown; remove it'],
    [{ same: ['a', 'b'] }, 'arguments.same[1]: expected integer; got "b"'],
    [{ older: ['a', 'b'] }, 'arguments.older[1]: unknown; remove it'],
    [{ rest: ['a', 'b'] }, 'arguments.rest[1]: expected number; got "b"'],
    [{ note: 'a' }, 'arguments.note: expected minLength 2; got "a"'],
    [{ note: 7 }, 'arguments.note: expected string or null; got 7'],
    [{ color: 'green' }, 'arguments.color: expected one of "red", "blue", null; got "green"'],
    [{ again: 1 }, 'arguments.again: expected string; got 1'],
  ])("is checked by its author's schema: %j is refused", async (args, problem) => {
    const { isError, content } = await call(args);
    expect([isError, content[0].text]).toEqual([true, expect.stringContaining(problem)]);
  });
});
