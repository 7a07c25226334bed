import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import * as activities from '../../activities/pipeline/index.js';
import { activityName, activityFailureMessage, BUILTIN_ACTIVITY_TYPES } from '../../engine/blockage.js';
import { run } from '../cli/commands.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { PipelineProject } from './support.js';

jest.setTimeout(PROCESSES_MS);
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
};
const INTERNAL = new RegExp(BUILTIN_ACTIVITY_TYPES.join('|'));

let project: PipelineProject;
beforeAll(async () => {
  project = await PipelineProject.shared(PIPELINES);
}, PROCESSES_MS);
afterAll(() => project?.stop());

test('a step that is tried again is named by job and step, on every protocol', async () => {
  const token = await project.client.start('stubborn');
  const line = /^job build \/ step Unit test is being retried \(attempt 2\): /;
  const { statusMessage } = await project.client.until(token, (task) =>
    /being retried/.test(task.statusMessage),
  );
  expect(statusMessage).toMatch(line);
  const job = (await (await fetch(`${project.parts.base}/v1/jobs/${token}`)).json()) as any;
  expect(job.status_message).toMatch(line);
  const { result } = await project.client.request('tools/call', {
    name: 'operation_get',
    arguments: { token },
  });
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
