/** `longhaul history`: a run's events for people and programs, its values only when asked for, and a file that replays. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { PipelineProject } from '../pipelines/support.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS, STACK_MS } from '../support/limits.js';
import { documents, run, start } from './commands.js';

jest.setTimeout(STACK_MS);

const PIPELINES = {
  release: `
inputs: { properties: { branch: { type: string } }, required: [branch] }
jobs:
  build:
    steps:
      - { name: Compile, run: echo compiled }
      - name: Publish
        retry: { attempts: 2, backoff: 0.1 }
        run: echo "no such remote"; exit 3
`,
  waits: `
inputs: { properties: { ledger: { type: string } }, required: [ledger] }
jobs:
  work:
    steps:
      - { name: Wait, run: 'until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done' }
`,
};
const SECRET_ARGUMENT = 'branch-that-nobody-may-see';

const folder = mkdtempSync(join(tmpdir(), 'longhaul-history-'));
let project: PipelineProject;
/** A failed operation. */
let token: string;
beforeAll(async () => {
  project = await PipelineProject.shared(PIPELINES);
  token = await project.client.start('release', { branch: SECRET_ARGUMENT });
  await project.client.until(token, 'completed');
}, PROCESSES_MS);
afterAll(async () => {
  await project?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const history = (...args: string[]) => run(project.parts, ['history', ...args]);

test('events have time, step, attempt, duration and failure, and no arguments', async () => {
  const { code, stdout, stderr } = await history(token);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^\+0s +1 WorkflowExecutionStarted +pipeline$/m);
  expect(stdout).toMatch(/^\+\S+ +\d+ ActivityTaskCompleted +job build \/ step Compile, took \S+s$/m);
  expect(stdout).toMatch(
    /^\+\S+ +\d+ ActivityTaskStarted +job build \/ step Publish, attempt 2, by \S+\n +.*exit code 3/m,
  );
  expect(stdout).toMatch(
    /ActivityTaskFailed +job build \/ step Publish, attempt 2, took \S+s\n +.*exit code 3/,
  );
  expect(stdout).toMatch(/^\+\S+ +\d+ WorkflowExecutionFailed +took \S+s\n +.*Publish/m);
  expect(stdout).not.toContain(SECRET_ARGUMENT);
  expect(stdout).not.toContain('WorkflowTask');
  expect((await history(token, '--all')).stdout).toContain('WorkflowTaskCompleted');
});

test('--payloads shows arguments and results, decoded', async () => {
  const { stdout } = await history(token, '--payloads');
  expect(stdout).toMatch(new RegExp(`^ +input: .*"branch":"${SECRET_ARGUMENT}"`, 'm'));
});

test('--json prints an object for each event', async () => {
  const events = documents<any>(await history(token, '--json'));
  expect(events.map(({ id }) => id)).toEqual(events.map((_event, at) => at + 1));
  const failed = events.find(({ event }) => event === 'ActivityTaskFailed');
  expect(failed).toMatchObject({
    about: 'job build / step Publish',
    attempt: 2,
    durationSeconds: expect.any(Number),
    failure: [expect.stringContaining('exit code 3')],
  });
  expect(JSON.stringify(events)).not.toContain(SECRET_ARGUMENT);
  const whole = documents<any>(await history(token, '--json', '--payloads'));
  expect(JSON.stringify(whole[0].payloads)).toContain(SECRET_ARGUMENT);
});

test('--output writes a private file, which replay takes, also compressed', async () => {
  for (const name of ['run.json', 'run.json.gz']) {
    const file = join(folder, name);
    const { code, stderr } = await history(token, '--output', file);
    expect([code, stderr]).toEqual([0, expect.stringContaining(`longhaul replay ${file}`)]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const replayed = await run(project.parts, ['replay', file]);
    expect([replayed.code, replayed.stdout]).toEqual([
      0,
      expect.stringMatching(/^fits .*pipeline, \d+ events/),
    ]);
  }
  expect(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')).events[0].eventId).toBe('1');
});

test('--follow shows further events until the run ends; the run before a reset has its own', async () => {
  const open = await project.startOn('waits', 'followed');
  const following = start(project.parts, ['history', open, '--follow', '--json']);
  await eventually('the step is scheduled', () => following.stdout.includes('step Wait'));
  project.letGo('followed');
  const events = documents<any>(await following.ended);
  expect(events.at(-1)).toMatchObject({
    event: 'WorkflowExecutionCompleted',
    durationSeconds: expect.any(Number),
  });
  const { runId } = await (await project.parts.temporal()).workflow.getHandle(open).describe();
  expect((await history(open, '--run', runId)).stdout).toContain('WorkflowExecutionCompleted');
});

test('wrong uses say where and what', async () => {
  const ended = async (...args: string[]) => {
    const { code, stdout, stderr } = await history(...args);
    return [code, stdout, stderr];
  };
  expect(await ended('nobody')).toEqual([
    4,
    '',
    expect.stringContaining('nobody: Temporal has no such operation; the token of a caller'),
  ]);
  expect(await ended(token, '--run', 'x')).toEqual([
    4,
    '',
    `longhaul: ${token}: Temporal has no run x of it\n`,
  ]);
  const other = '00000000-0000-4000-8000-000000000000';
  expect((await ended(token, '--run', other))[0]).toBe(4);
  expect(await ended(token, '--follow', '--output', 'x')).toEqual([
    2,
    '',
    expect.stringContaining("option '--follow' cannot be used with option '--output <file>'"),
  ]);
  writeFileSync(join(folder, 'file'), '');
  expect(await ended(token, '--output', join(folder, 'file/x.json'))).toEqual([
    2,
    '',
    expect.stringContaining('--output: expected a file that can be written; ENOTDIR'),
  ]);
  const gone = await run(project.parts, ['history', token], {
    environment: { TEMPORAL_ADDRESS: '127.0.0.1:9' },
  });
  expect([gone.code, gone.stderr]).toEqual([3, expect.stringContaining('no Temporal at 127.0.0.1:9')]);
});
