/** Pipelines that end before they are done, by a failure, a cancel or their maximum duration, and the operations that resume them. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { STACK_MS } from '../support/limits.js';
import { LEDGER, PipelineProject, stepStatuses, textOf } from './support.js';

jest.setTimeout(STACK_MS);
const note = (line: string) => `echo ${line} >> "$INPUT_LEDGER"`;
const PIPELINES = {
  /** Fails at its third step until a file of the test's is there. */
  fixed: `
${LEDGER}
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
${LEDGER}
jobs:
  work:
    steps:
      - { name: One, run: '${note('one')}' }
      - { name: Two, run: '${note('two')}; test -e "$INPUT_LEDGER.fixed" || sleep 600' }
`,
  slow: `
${LEDGER}
jobs:
  work:
    artifacts: [kept.txt]
    outputs: [half]
    steps:
      - run: |
          echo half-way > kept.txt
          echo "half=done" >> "$LONGHAUL_OUTPUT"
      - name: Long
        run: |
          trap 'echo terminated >> "$INPUT_LEDGER"; exit 1' TERM
          echo started >> "$INPUT_LEDGER"
          while true; do sleep 0.1; done
      - { name: never, run: 'echo never >> "$INPUT_LEDGER"' }
      - { name: always, if: always, run: 'echo always >> "$INPUT_LEDGER"' }
  later:
    needs: work
    steps: [{ run: 'echo never >> "$INPUT_LEDGER"' }]
`,
  short_of_time: `
timeout-minutes: 0.05
${LEDGER}
jobs:
  work:
    steps:
      - { name: Long, run: 'echo started >> "$INPUT_LEDGER"; sleep 600' }
      - { name: always, if: always, run: 'echo always >> "$INPUT_LEDGER"' }
`,
};

const project = PipelineProject.ofFile(PIPELINES);

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
  const read = await project.call('operation_get', { token: resumed, view: 'logs', step: 'fetch/1' });
  expect(read.structuredContent.log.lines).toEqual([{ number: 1, text: 'fetching' }]);
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

test('a cancel ends the running step in good order, then runs what runs always', async () => {
  const token = await project.startOn('slow', 'cancelled');
  await project.reaches('cancelled', 'started');
  await project.client.request('tasks/cancel', { taskId: token });
  await project.client.until(token, 'cancelled');
  expect(project.lines('cancelled')).toEqual(['started', 'terminated', 'always']);
  const children = await project.children(token);
  expect(stepStatuses(children)).toEqual({
    'work/1': 'completed',
    'work/2': 'canceled',
    'work/3': 'canceled',
    'work/4': 'completed',
    'later/1': 'canceled',
  });
  expect(children[0]).toMatchObject({ status: 'canceled', outputs: { half: 'done' } });
  expect(children[0].artifacts).toMatchObject([{ name: 'work/kept.txt', bytes: 9 }]);
});

test('the maximum duration ends a step as a cancel does', async () => {
  const token = await project.startOn('short_of_time', 'late');
  const result = await project.finish(token);
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain('longer than its maximum');
  expect(project.lines('late')).toEqual(['started', 'always']);
});
