import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { PipelineProject, stepStatuses, textOf } from './support.js';

jest.setTimeout(STACK_MS);
const INPUTS = 'inputs: { properties: { ledger: { type: string } }, required: [ledger] }';
const note = (line: string) => `echo ${line} >> "$INPUT_LEDGER"`;
const PIPELINES = {
  /** Fails at its third step until a file of the test's is there. */
  fixed: `
${INPUTS}
outputs: { total: sum.total }
jobs:
  fetch:
    outputs: [parts]
    artifacts: [data.txt]
    steps:
      - run: |
          ${note('fetch')}
          echo fetching
          echo fetched > data.txt
          echo "parts=4" >> "$LONGHAUL_OUTPUT"
  build:
    needs: fetch
    steps:
      - { name: Unpack, run: '${note('unpack')}; cp "$LONGHAUL_ARTIFACTS/fetch/data.txt" here.txt' }
      - { name: Prepare, run: '${note('prepare')}; test -f here.txt' }
      - { name: Compile, run: '${note('compile')}; test -f here.txt; test -e "$INPUT_LEDGER.fixed"' }
      - { name: Tidy, if: always, run: '${note('tidy')}' }
  sum:
    needs: [fetch, build]
    outputs: [total]
    steps:
      - run: |
          ${note('sum')}
          echo "total=$(cat "$LONGHAUL_ARTIFACTS/fetch/data.txt")" >> "$LONGHAUL_OUTPUT"
  after:
    needs: sum
    if: always
    steps: [{ run: '${note('after')}' }]
`,
  stopped: `
${INPUTS}
jobs:
  work:
    steps:
      - { name: One, run: '${note('one')}' }
      - { name: Two, run: '${note('two')}; test -e "$INPUT_LEDGER.fixed" || sleep 600' }
`,
};

let project: PipelineProject;
beforeAll(async () => {
  project = await PipelineProject.shared(PIPELINES);
}, PROCESSES_MS);
afterAll(() => project?.stop());

const fix = (ledger: string) => writeFileSync(join(project.ledgers, `${ledger}.fixed`), '');
const newToken = (result: any): string => {
  if (result.isError) throw new Error(textOf(result));
  return result.structuredContent.token;
};
const BEFORE = ['fetch', 'unpack', 'prepare', 'compile', 'tidy', 'after'];

async function fail(ledger: string): Promise<string> {
  const token = await project.startOn('fixed', ledger);
  const result = await project.finish(token);
  expect(textOf(result)).toContain('build: step "Compile" failed');
  expect(project.lines(ledger)).toEqual(BEFORE);
  return token;
}

test('resume continues after the last finished step, in the same workspace, as a new operation', async () => {
  const token = await fail('again');
  fix('again');
  const resumed = newToken(await project.resume(token));
  expect(resumed).not.toBe(token);
  // Asked for once more, it is the same operation.
  expect(newToken(await project.resume(token))).toBe(resumed);
  const result = await project.finish(resumed);
  expect(result.structuredContent).toEqual({ total: 'fetched' });
  expect(project.lines('again')).toEqual([...BEFORE, 'compile', 'tidy', 'sum', 'after']);
  const children = await project.children(resumed);
  expect(new Set(Object.values(stepStatuses(children)))).toEqual(new Set(['completed']));
  expect(children[0].steps[0].logsOf).toBe(token);
  // The logs of the steps before it are read by its token too.
  const args = { token: resumed, view: 'logs', step: 'fetch/1' };
  const read = await project.client.request('tools/call', { name: 'operation_get', arguments: args });
  expect(read.result.structuredContent.log.lines).toEqual([{ number: 1, text: 'fetching' }]);
});

test('resume from an earlier step runs it and what follows again', async () => {
  const token = await fail('from');
  fix('from');
  const resumed = newToken(await project.resume(token, 'build/2'));
  expect((await project.finish(resumed)).isError).toBeFalsy();
  expect(project.lines('from')).toEqual([...BEFORE, 'prepare', 'compile', 'tidy', 'sum', 'after']);
  const other = await project.resume(token, 'build/1');
  expect(other.isError).toBe(true);
  expect(textOf(other)).toMatch(/resumed/);
});

test('an unknown step is refused, with the existing ones', async () => {
  const token = await fail('no_such_step');
  const result = await project.resume(token, 'build/9');
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain('build/3');
});

test('without its workspace the job starts again, and says so', async () => {
  const token = await fail('gone');
  const workspace = join(process.env['LONGHAUL_HOME']!, 'workspaces', token);
  expect(existsSync(workspace)).toBe(true);
  rmSync(workspace, { recursive: true });
  fix('gone');
  const resumed = newToken(await project.resume(token));
  expect((await project.finish(resumed)).structuredContent).toEqual({ total: 'fetched' });
  expect(project.lines('gone')).toEqual([...BEFORE, 'unpack', 'prepare', 'compile', 'tidy', 'sum', 'after']);
  const build = (await project.children(resumed)).find(({ name }) => name === 'build');
  expect(build.statusMessage).toContain('started again');
});

test('only an operation that has ended, and did not complete, can be resumed', async () => {
  const open = await project.startOn('stopped', 'open');
  await project.client.until(open, () => project.lines('open').includes('two'));
  const result = await project.resume(open);
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain('only one that has ended');
  await project.client.request('tasks/cancel', { taskId: open });
  await project.client.until(open, 'cancelled');

  fix('completed');
  const completed = await project.startOn('stopped', 'completed');
  await project.finish(completed);
  expect(textOf(await project.resume(completed))).toContain('has completed');

  const other = await project.client.start('slow_compute', { seconds: 0 });
  await project.client.until(other, 'completed');
  expect((await project.resume(other)).isError).toBe(true);
});
