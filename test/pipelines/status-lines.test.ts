/** Steps and artifacts of an operation, as its callers see them. */
import { rmSync } from 'node:fs';
import { expect, jest, test } from '@jest/globals';
import * as activities from '../../activities/pipeline/index.js';
import { activityName, activityFailureMessage, BUILTIN_ACTIVITY_TYPES } from '../../engine/read/blockage.js';
import { run } from '../cli/commands.js';
import { eventually } from '../stack/cli-process.js';
import { OUTAGE_MS } from '../support/limits.js';
import { PipelineProject, textOf } from './support.js';

jest.setTimeout(OUTAGE_MS);
const PIPELINES = {
  stubborn: `
jobs:
  build:
    steps:
      - { name: Fetch, run: echo fetched }
      - name: Unit test
        run: exit 3
        retry: { attempts: 2, backoff: 600 }
`,
  /** Half of its steps are skipped. */
  halves: `
jobs:
  first:
    steps: [{ run: echo one }, { run: echo two }]
  second:
    needs: first
    steps: [{ run: exit 1 }, { run: echo never }]
  third:
    needs: second
    steps: [{ run: echo never }, { run: echo never }, { run: echo never }]
  last:
    needs: third
    if: always
    steps: [{ run: sleep 2 }]
`,
  incomplete: `
jobs:
  build:
    artifacts: [report.txt, run, out, missing.txt]
    steps:
      - run: |
          echo report > report.txt
          printf '#!/bin/sh' > run
          chmod +x run
          mkdir out
          mkfifo out/pipe
  after:
    needs: build
    steps: [{ run: exit 0 }]
`,
  failing: `
jobs:
  build:
    artifacts: [report.txt, missing.txt, link]
    steps: [{ run: 'echo report > report.txt; ln -s nowhere link; exit 3' }]
`,
  disks: `
inputs: { properties: { ledger: { type: string } }, required: [ledger] }
jobs:
  make:
    artifacts: [images]
    steps:
      - run: |
          mkdir images
          for i in {1..40}; do truncate -s 9G images/$i; done
          pwd >> "$INPUT_LEDGER"
`,
};
const INTERNAL = new RegExp(BUILTIN_ACTIVITY_TYPES.join('|'));

const project = PipelineProject.ofFile(PIPELINES);

test('a step that is tried again is named by job and step, on every protocol', async () => {
  const token = await project.client.start('stubborn');
  const line = /^job build \/ step Unit test is being retried \(attempt 2\): /;
  const { statusMessage } = await project.client.until(token, (task) =>
    /being retried/.test(task.statusMessage),
  );
  expect(statusMessage).toMatch(line);
  const job = (await (await fetch(`${project.parts.base}/v1/jobs/${token}`)).json()) as any;
  expect(job.status_message).toMatch(line);
  const result = await project.call('operation_get', { token });
  expect(result.structuredContent.status_message).toMatch(line);
  const { stdout } = await run(project.parts, ['status', token]);
  expect(stdout).toMatch(/^says +job build \/ step Unit test is being retried \(attempt 2\): /m);
  for (const text of [JSON.stringify(job), JSON.stringify(result), stdout])
    expect(text).not.toMatch(INTERNAL);
  await project.client.request('tasks/cancel', { taskId: token });
  await project.client.until(token, 'cancelled');
});

test('activities of Longhaul have names for people, those of tools their own', () => {
  const own = Object.values(activities).filter((one) => typeof one === 'function');
  for (const { name } of own) {
    expect(BUILTIN_ACTIVITY_TYPES).toContain(name);
    expect(activityName(name, undefined)).not.toMatch(INTERNAL);
  }
  expect(activityName('runPipelineStep', 'test[3] / Unit')).toBe('job test[3] / step Unit');
  expect(activityName('openPipelineWorkspace', 'build: workspace')).toBe('the workspace of job build');
  expect(activityName('savePipelineArtifacts', 'build: artifacts')).toBe('saving the artifacts of job build');
  expect(activityName('resize_images', 'resize')).toBe('resize_images');
  const missing =
    'Activity function runPipelineStep is not registered on this Worker, available activities: []';
  expect(activityFailureMessage('runPipelineStep', missing)).not.toMatch(INTERNAL);
});

test('skipped steps count as done: 100 % is reached at the end, not before, and the text says how many', async () => {
  const token = await project.client.start('halves');
  const seen: { progress: number; total: number; isOver: boolean }[] = [];
  const end = await eventually('it has ended', async () => {
    const task = await project.client.get(token);
    const { progress, total } = task._meta['longhaul/progress'] ?? {};
    const isOver = task.status === 'completed';
    if (progress !== undefined) seen.push({ progress, total, isOver });
    return isOver ? task : undefined;
  });
  expect(end._meta['longhaul/progress']).toMatchObject({
    progress: 8,
    total: 8,
    message: expect.stringMatching(/^4 skipped; last/),
  });
  const amounts = seen.map(({ progress }) => progress);
  expect([...amounts].sort((a, b) => a - b)).toEqual(amounts);
  expect(new Set(seen.map(({ total }) => total))).toEqual(new Set([8]));
  expect(seen.filter(({ isOver }) => !isOver).every(({ progress }) => progress < 8)).toBe(true);
  expect(amounts).toContain(7);
  const { stdout } = await run(project.parts, ['status', token]);
  expect(stdout).toMatch(/^progress +8 of 8, 4 skipped; last \/ step 1: completed$/m);
});

const FIFO = { path: 'out/pipe', reason: 'is a FIFO: only files can be saved' };
const MISSING = { path: 'missing.txt', reason: 'no file in the workspace matches it' };

test('a job that has worked fails for them, names them, and keeps the others', async () => {
  const token = await project.client.start('incomplete');
  const result = await project.finish(token);
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain(
    'build: no file in the workspace matches the artifact pattern "missing.txt"; ' +
      'artifact out/pipe is a FIFO: only files can be saved',
  );
  expect(await project.children(token)).toMatchObject([
    {
      ...{ name: 'build', status: 'failed' },
      steps: [{ status: 'completed' }],
      artifacts: [{ name: 'build/report.txt' }, { name: 'build/run' }],
      unsavedArtifacts: [MISSING, FIFO],
    },
    { name: 'after', status: 'skipped' },
  ]);
  const listed = await fetch(`${project.parts.base}/v1/jobs/${token}/artifacts`);
  expect(await listed.json()).toMatchObject({
    artifacts: [{ name: 'build/report.txt' }, { name: 'build/run', executable: true }],
    unsaved: [
      { job: 'build', ...MISSING },
      { job: 'build', ...FIFO },
    ],
  });
  const { stdout: status } = await run(project.parts, ['status', token]);
  expect(status).toMatch(/missing\.txt +not saved +no file in the workspace matches it/);
  const { stdout: files } = await run(project.parts, ['get', token]);
  expect(files).toMatch(/Not saved:\nbuild +missing\.txt +no file in the workspace matches it/);
});

test('a job that has failed before keeps its failure, and names them too', async () => {
  const token = await project.client.start('failing');
  expect(textOf(await project.finish(token))).toContain('failed with exit code 3');
  expect(await project.children(token)).toMatchObject([
    {
      status: 'failed',
      statusMessage: expect.stringContaining('exit code 3'),
      artifacts: [{ name: 'build/report.txt' }],
      unsavedArtifacts: [MISSING, { path: 'link', reason: 'is a broken link' }],
    },
  ]);
});

test('a cancelled operation says canceled once its files are no longer copied', async () => {
  const token = await project.startOn('disks', 'disks');
  const handle = (await project.parts.temporal()).workflow.getHandle(token);
  const events = async () => (await handle.fetchHistory()).events ?? [];
  const saves = async () =>
    (await events()).flatMap(({ eventId, activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === 'savePipelineArtifacts' ? [Number(eventId)] : [],
    );
  const saving = await eventually('a worker copies the files', async () => {
    const [first] = await saves();
    const { raw } = await handle.describe();
    return raw.pendingActivities?.some(({ state }) => state === 2) ? first : undefined;
  });
  await project.client.request('tasks/cancel', { taskId: token });
  const ended = await eventually('the copy has ended', async () => {
    const found = (await events()).find(
      ({ activityTaskCanceledEventAttributes: canceled }) => Number(canceled?.scheduledEventId) === saving,
    );
    return found && Number(found.eventId);
  });
  // The operation's end saves what is there by then.
  rmSync(`${project.lines('disks')[0]!}/images`, { recursive: true });
  await project.client.until(token, 'cancelled', OUTAGE_MS);
  const [, again] = await saves();
  expect(again).toBeGreaterThan(ended);
});
