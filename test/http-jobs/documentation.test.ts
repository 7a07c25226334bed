/** The ten documentation items of a tool in every form, and the lint check for missing ones. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { exampleOf } from '../../operations/documentation/example.js';
import { ITEMS } from '../../operations/documentation/items.js';
import { run } from '../cli/commands.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { TASKS } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';
import { expectProblem } from './support.js';

const folder = temporaryFolder('lint');
const SHIPPED = ['analyze_dataset', 'audit_npm_package', 'sign_packages', 'test_npm_package'];

const parts = await forAllTests(
  TestStack.serverOnSharedWorker({ LONGHAUL_PIPELINE_FOLDERS: resolve('examples/pipelines') }),
);
const { jobs } = parts;

async function descriptions(capabilities: object): Promise<Record<string, string>> {
  const { result } = await parts.client.with(capabilities).request('tools/list');
  return Object.fromEntries(result.tools.map(({ name, description }: any) => [name, description]));
}

/** Patterns for each of the ten items, for clients without tasks. */
const PLAIN = {
  operation: /^# \w+\n\n[A-Z].{20}/,
  parameters: /^## Parameters\n\n(- `\w+` \(.+\)(: .+)?\n)+/m,
  states: /^States: queued, running, input_required; final: completed, failed, cancelled, errored/m,
  following:
    /operation_get with it, each time after next_action.check_after_seconds[^]*operation_get \{"token":"T"\} -> \{"status":"running"\}/,
  cancel: /^operation_cancel ends the work.*what is finished stays[^]*^On cancel or time-out: .+/m,
  timeout: /at most \d+ s .*then times out; allow \d+-\d+ s/,
  idempotency: /idempotency_key and arguments return the same operation/,
  errors: /^Errors .*: retryable unavailable.*; not .*\bfailed, invalid_output, timed_out/m,
  rates: /^Beyond the limits of the server .* rate_limited, retryable/m,
  example: /^Example: \w+ \{.*\} -> .*"queued".*"running".*"completed","result":/m,
  schemas: /^## Input schema\n\n```json\n\{.*\}\n```\n\n## Result schema/m,
};
const ON = {
  plain: PLAIN,
  tasks: {
    ...PLAIN,
    states: /^Task states: working, input_required; final: completed .*, failed, cancelled/m,
    following:
      /tasks\/get after pollIntervalMs, or subscriptions\/listen[^]*tasks\/get \{"taskId":"T"\} -> \{"status":"working"\}/,
    cancel: /^tasks\/cancel ends the work.*what is finished stays[^]*^On cancel or time-out: .+/m,
    example: /^Example: \w+ \{.*\} -> .*"working".*"completed","result":/m,
  },
};

describe('the resource of a tool', () => {
  const read = async (capabilities: object, name: string): Promise<string> => {
    const params = { uri: `longhaul://tools/${name}` };
    const { result } = await parts.client.with(capabilities).request('resources/read', params);
    expect(result.contents).toMatchObject([{ ...params, mimeType: 'text/markdown' }]);
    return result.contents[0].text;
  };

  test.each([
    ['plain', {}],
    ['tasks', TASKS],
  ] as const)('has all ten items for clients of %s', async (protocol, capabilities) => {
    for (const name of SHIPPED) {
      const text = await read(capabilities, name);
      for (const [item, expression] of Object.entries(ON[protocol]))
        expect({ name, item, text }).toEqual({ name, item, text: expect.stringMatching(expression) });
    }
  });

  test('of a short tool says that its call waits, and nothing of tokens', async () => {
    const greet = await read({}, 'greet');
    expect(greet).toContain('Nothing to poll: it waits');
    expect(greet).toMatch(/^Example: greet \{"name":"text"\} -> /m);
    expect(greet).not.toMatch(/token|operation_/);
  });

  test("of Longhaul's own tools has the whole schemas", async () => {
    expect(await read({}, 'operation_get')).toMatch(/^# operation_get[^]*"logs_of"[^]*"line_bytes"/);
  });
});

test('the description in a list of tools has what is the tool’s own, and nothing that holds for every tool', async () => {
  const { body } = await jobs.get('/v1/tools');
  const summaries = Object.fromEntries(body.tools.map((tool: any) => [tool.name, tool.description]));
  for (const capabilities of [{}, TASKS]) {
    const described = await descriptions(capabilities);
    for (const name of SHIPPED) {
      expect(described[name]).toMatch(/at most \d+ s\.\nOn cancel or time-out: .+\n/);
      expect(described[name]!.slice(0, summaries[name].length)).toBe(summaries[name]);
      // About four characters per token.
      expect(described[name]!.length - summaries[name].length).toBeLessThan(300);
    }
  }
});

describe('the whole documentation', () => {
  test('is beside the tool, as data and as Markdown', async () => {
    const { body } = await jobs.get('/v1/tools/audit_npm_package');
    expect(body).toMatchObject({ name: 'audit_npm_package', input_schema: { type: 'object' } });
    expect(Object.keys(body.documentation)).toEqual(Object.keys(ITEMS));
    const { documentation } = body;
    expect(documentation.parameters).toContainEqual({
      name: 'version',
      type: 'string',
      required: false,
      description: 'Version, range or tag.',
      default: 'latest',
    });
    const terminal = documentation.states.filter((state: any) => state.terminal);
    expect(terminal.map(({ status }: any) => status)).toEqual([
      'succeeded',
      'failed',
      'canceled',
      'timed_out',
    ]);
    expect(documentation.timeout).toMatchObject({
      max_duration_seconds: 1800,
      max_cleanup_seconds: 900,
      max_input_wait_seconds: 30 * 24 * 3600,
      client_budget_seconds: { from: 2700, to: 3600 },
      cleanup: expect.stringContaining('running steps are ended'),
    });
    expect(documentation.rates).toMatchObject({ kickoffs_per_minute: 60_000, status_per_minute: 600_000 });

    const page = await jobs.get('/v1/tools/audit_npm_package', { accept: 'text/markdown' });
    expect(page.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    const [first, ...others] = [...(page.body as string).matchAll(/^##? (.+)$/gm)].map(([, title]) => title);
    expect(first).toBe('audit_npm_package');
    expect(others).toEqual(Object.values(ITEMS).slice(1));
    expectProblem(await jobs.get('/v1/tools/nothing'), 'unknown-tool', 404);
  });

  test('is in the OpenAPI document, at each tool', async () => {
    const { paths } = (await jobs.get('/openapi.json')).body;
    for (const name of SHIPPED) {
      const { post } = paths[`/v1/tools/${name}/jobs`];
      expect(Object.keys(post['x-longhaul'])).toEqual(expect.arrayContaining(Object.keys(ITEMS)));
      for (const title of Object.values(ITEMS).slice(1)) expect(post.description).toContain(`## ${title}`);
    }
  });

  test('is printed by tools NAME', async () => {
    const page = await jobs.get('/v1/tools/slow_compute', { accept: 'text/markdown' });
    expect(await run(parts, ['tools', 'slow_compute'])).toEqual({ code: 0, stdout: page.body, stderr: '' });
    const { stdout } = await run(parts, ['tools', 'slow_compute', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'slow_compute',
      documentation: { states: expect.any(Array) },
    });
    expect(await run(parts, ['tools', 'nothing'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^longhaul: unknown tool "nothing"; known are .*slow_compute/),
    });
  });

  test('has a trace that holds: kickoff, poll, result', async () => {
    const { documentation } = (await jobs.get('/v1/tools/slow_compute')).body;
    const [kickoff, poll, end] = documentation.example as { request: string; response: string }[];
    const [head, body] = kickoff!.request.split('\n\n') as [string, string];
    const [line, ...headers] = head.split('\n') as [string, ...string[]];
    const [method, path] = line.split(' ') as [string, string];
    const answer = await jobs.request(method, path, {
      headers: Object.fromEntries(headers.map((one) => one.split(': ') as [string, string])),
      body,
    });
    expect(kickoff!.response).toContain(`HTTP/1.1 ${answer.status} `);
    expect(answer.headers.get('location')).toBe(`/v1/jobs/${answer.body.job_id}`);
    expect(poll!.request.replace(/\w{32}/, answer.body.job_id)).toBe(`GET ${answer.body.status_url}`);
    const job = await jobs.until(answer.body.job_id, 'succeeded');
    const shown = JSON.parse(end!.response.split('\n\n')[1]!);
    expect(Object.keys(job)).toEqual(expect.arrayContaining(Object.keys(shown)));
    expect(Object.keys(job.result)).toEqual(Object.keys(shown.result));
  });
});

test.each<[object, unknown]>([
  [
    { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a'] },
    { a: 'text' },
  ],
  [{ type: 'integer', minimum: 5, maximum: 9 }, 5],
  [{ type: 'number', exclusiveMaximum: 0 }, -1],
  [{ type: 'array', items: { enum: ['red', 'blue'] }, minItems: 2 }, ['red', 'red']],
  [{ type: 'string', format: 'email', examples: ['eve@example.org'] }, 'eve@example.org'],
  [{ anyOf: [{ type: 'null' }, { type: 'string' }] }, null],
  [{ $defs: { size: { const: 'large' } }, $ref: '#/$defs/size' }, 'large'],
  [{ type: 'string', pattern: '^[A-Z]{3}$' }, undefined],
  [{ type: 'array', items: { type: 'string' }, minItems: 2, uniqueItems: true }, undefined],
])('the plainest example of %j', (schema, expected) => {
  expect(exampleOf(schema as Record<string, unknown>)).toEqual(expected);
});

describe('lint', () => {
  const whole = {
    name: 'brew',
    description: { does: 'Brews coffee.' },
    input: { type: 'object', properties: { cups: { type: 'integer' } } },
    output: { type: 'object', properties: {} },
    estimate: { seconds: 60 },
    deadlineSeconds: 600,
    cleanup: 'the pot is emptied.',
    retryableErrors: [],
  };
  const write = (name: string, text: string) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const tool = (name: string, changes: object = {}) =>
    write(
      `${name}.ts`,
      `import { defineTool } from 'longhaul';\nexport default defineTool(${JSON.stringify({ ...whole, name, ...changes })} as any);\n`,
    );
  const lint = (...files: string[]) => run(parts, ['lint', ...files]);

  test('passes what is shipped', async () => {
    const { code, stdout } = await lint('dist/tools', 'examples/pipelines');
    expect(stdout.trim().split('\n')).toEqual(
      SHIPPED.map((name) => expect.stringMatching(new RegExp(`: ok, tool ${name}$`))),
    );
    expect(code).toBe(0);
  });

  test('names what a tool lacks, where, and what it should say', async () => {
    const { code, stdout } = await lint(
      tool('fine'),
      tool('no_cleanup', { cleanup: undefined }),
      tool('no_deadline', { deadlineSeconds: undefined }),
      tool('no_errors', { retryableErrors: undefined }),
      tool('no_type', { input: { type: 'object', properties: { cups: { description: 'How many?' } } } }),
      tool('no_example', {
        input: {
          type: 'object',
          properties: { code: { type: 'string', pattern: '^[A-Z]{3}-\\d+$' } },
          required: ['code'],
        },
      }),
    );
    expect(code).toBe(1);
    const lines = stdout.trim().split('\n');
    expect(lines).toHaveLength(6);
    expect(lines[0]).toBe(`${join(folder, 'fine.ts')}: ok, tool fine`);
    for (const [at, expected] of [
      /no_cleanup\.ts: cleanup: missing; expected what cancel and time-out clean up.*\(cancel\)$/,
      /no_deadline\.ts: deadlineSeconds: missing; expected the maximum duration.*\(time-out\)$/,
      /no_errors\.ts: retryableErrors: missing; expected types of failures.*\(errors\)$/,
      /no_type\.ts: input\.cups: missing; expected a type \(parameters\)$/,
      /no_example\.ts: example: missing; expected arguments for an example.*\(example\)$/,
    ].entries())
      expect(lines[at + 1]).toMatch(expected);
  });

  test('takes the example that an author gives, and refuses one that does not fit', async () => {
    const input = {
      type: 'object',
      properties: { code: { type: 'string', pattern: '^[A-Z]+$' } },
      required: ['code'],
    };
    const given = tool('given', { input, example: { input: { code: 'ABC' } } });
    expect((await lint(given)).code).toBe(0);
    const wrong = tool('wrong', { input, example: { input: { code: 'abc' } } });
    const { code, stdout } = await lint(wrong);
    expect(code).toBe(1);
    expect(stdout).toContain('example.input.code: expected pattern ^[A-Z]+$; got "abc"');
  });

  test('names what a pipeline lacks, with line and column', async () => {
    const path = write(
      'bare.yml',
      `inputs:\n  properties:\n    tag: { description: Which? }\n    ref: { type: string, pattern: '^v[0-9]+$' }\n  required: [ref]\njobs: { a: { steps: [{ run: make }] } }\n`,
    );
    const { code, stdout } = await lint(path);
    expect(code).toBe(1);
    expect(stdout.trim().split('\n')).toEqual([
      `${path}:1:1: description: missing; expected what the tool does, in a sentence or two`,
      `${path}:1:1: timeout-minutes: missing; expected the maximum duration of the pipeline, in minutes`,
      `${path}:1:1: estimate-minutes: missing; expected how long it usually takes, in minutes`,
      expect.stringContaining(`${path}:1:1: inputs: missing; expected arguments for an example`),
      `${path}:3:5: inputs.properties.tag: missing; expected a type`,
    ]);
  });

  test('gives a document with --json, and reports what can not be loaded', async () => {
    const broken = write('broken.ts', 'export default 1;');
    const none = join(folder, 'none.yml');
    const { code, stdout } = await lint('--json', tool('good'), broken, none);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      ok: false,
      files: [
        { file: join(folder, 'good.ts'), tool: 'good', findings: [] },
        { file: broken, findings: [{ message: expect.stringContaining('expected a default export') }] },
        { file: none, findings: [{ line: 1, column: 1, message: 'no such file' }] },
      ],
    });
    expect(await lint(join(folder, 'nothing-here'))).toMatchObject({ code: 1 });
  });
});
