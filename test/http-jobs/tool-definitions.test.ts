/** Tools as definitions for model APIs, and the calls behind them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { check } from '../../operations/tool/schema.js';
import { run } from '../cli/commands.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { expectProblem } from './support.js';

const NAME = { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,64}$' };
const PARAMETERS = {
  type: 'object',
  properties: { type: { const: 'object' }, properties: { type: 'object' } },
  required: ['type', 'properties'],
  not: { anyOf: ['oneOf', 'anyOf', 'allOf', 'enum', 'not'].map((keyword) => ({ required: [keyword] })) },
};
/** Chat Completions, `tools[]`. */
const OPENAI = {
  type: 'object',
  properties: {
    type: { const: 'function' },
    function: {
      type: 'object',
      properties: {
        name: NAME,
        description: { type: 'string', minLength: 1, maxLength: 1024 },
        parameters: PARAMETERS,
      },
      required: ['name', 'description', 'parameters'],
      additionalProperties: false,
    },
  },
  required: ['type', 'function'],
  additionalProperties: false,
};
/** Messages, `tools[]`. */
const ANTHROPIC = {
  type: 'object',
  properties: { name: NAME, description: { type: 'string', minLength: 1 }, input_schema: PARAMETERS },
  required: ['name', 'description', 'input_schema'],
  additionalProperties: false,
};

const folder = temporaryFolder('agent-loop');
const parts = await forAllTests(
  TestStack.serverOnSharedWorker({ LONGHAUL_PIPELINE_FOLDERS: resolve('examples/pipelines') }),
);
const { jobs } = parts;

describe.each([
  [
    'openai',
    OPENAI,
    ({ function: { name, description, parameters } }: any) => [name, description, parameters],
  ],
  ['anthropic', ANTHROPIC, ({ name, description, input_schema }: any) => [name, description, input_schema]],
] as const)('?format=%s', (format, schema, partsOf) => {
  test('has every tool and what follows jobs, in the form that the API takes', async () => {
    const { status, body } = await jobs.get(`/v1/tools?format=${format}`);
    expect(status).toBe(200);
    expect(body.format).toBe(format);
    for (const tool of body.tools) expect(check(schema, tool, partsOf(tool)[0])).toEqual([]);
    const names = body.tools.map((tool: any) => partsOf(tool)[0]);
    const plain = (await jobs.get('/v1/tools')).body.tools.map(({ name }: any) => name);
    expect(names).toEqual([...plain, 'operation_get', 'operation_answer', 'operation_cancel']);
    expect(Object.keys(body.calls)).toEqual(names);
    const [, description, parameters] = partsOf(body.tools[names.indexOf('slow_compute')]);
    expect(description).toMatch(/operation_get.*job_id/s);
    expect(parameters).toMatchObject({ properties: { seconds: { type: 'number' } }, required: ['seconds'] });
  });

  test('is printed by `longhaul tools --format`', async () => {
    const { code, stdout } = await run(parts, ['tools', '--format', format]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual((await jobs.get(`/v1/tools?format=${format}`)).body);
  });
});

test('another format is refused with those that there are', async () => {
  const answer = await jobs.get('/v1/tools?format=gemini');
  expectProblem(answer, 'invalid-request', 400);
  expect(answer.body.detail).toMatch(/query\.format.*openai.*anthropic/);
  expect(await run(parts, ['tools', '--format', 'gemini'])).toMatchObject({ code: 2 });
});

test("the page's loop executes calls: it starts a job, answers its question, and has the result", async () => {
  const [, code] = /```js\n(\/\/ agent-loop\.mjs\n[\s\S]*?)```/.exec(
    readFileSync('docs/http-jobs.md', 'utf8'),
  )!;
  writeFileSync(join(folder, 'agent-loop.mjs'), code!);
  // Calls of a model in sequence: each uses results of the earlier ones.
  writeFileSync(
    join(folder, 'model.mjs'),
    `import { execute } from './agent-loop.mjs';
     const { job_id } = await execute('call-1', 'confirm_delete', { filename: 'a.txt' });
     await execute('call-1', 'confirm_delete', { filename: 'a.txt' }).then((again) => {
       if (again.job_id !== job_id) throw new Error('it started twice');
     });
     let job;
     do job = await execute('call-2', 'operation_get', { job_id, wait: 20 }); while (!job.input_required);
     const [{ key }] = Object.entries(job.input_required.requests).map(([key]) => ({ key }));
     await execute('call-3', 'operation_answer', { job_id, key, value: { confirm: true } });
     do job = await execute('call-4', 'operation_get', { job_id, wait: 20 }); while (job.status === 'running');
     const other = await execute('call-5', 'slow_compute', { seconds: 60 });
     const cancelled = await execute('call-6', 'operation_cancel', { job_id: other.job_id, reason: 'enough' });
     const refused = await execute('call-7', 'operation_get', { job_id: 'unknown' });
     console.log(JSON.stringify({ job, cancelled, refused }));`,
  );
  const printed = execFileSync(process.execPath, [join(folder, 'model.mjs')], {
    env: { PATH: process.env['PATH'], LONGHAUL: parts.base },
    encoding: 'utf8',
  });
  const { job, cancelled, refused } = JSON.parse(printed.trim().split('\n').at(-1)!);
  expect(job).toMatchObject({ status: 'succeeded', result: { deleted: ['a.txt'] } });
  expect(cancelled.cancel_requested || cancelled.status === 'canceled').toBe(true);
  expect(refused).toMatchObject({ type: '/problems/job-not-found' });
});
