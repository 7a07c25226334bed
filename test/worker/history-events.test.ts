/** Options of activities, and the modules that a run evaluates. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { COUNTED_PROJECT, TestStack } from '../support/test-stack.js';

// Own stack: a project whose histories are counted, without the shipped tools.
const parts = await forAllTests(TestStack.start(COUNTED_PROJECT));

describe('an activity', () => {
  /** Heartbeat time-out of the operation's first activity, in seconds. */
  const heartbeatTimeoutOf = async (taskId: string) => {
    const { events } = await (await parts.temporal()).workflow.getHandle(taskId).fetchHistory();
    const scheduled = events!.find((event) => event.activityTaskScheduledEventAttributes);
    if (!scheduled) return undefined;
    return Number(scheduled.activityTaskScheduledEventAttributes!.heartbeatTimeout?.seconds ?? 0);
  };

  test("of another team's worker has the options of its author alone", async () => {
    const { client } = parts;
    const taskId = await client.start('billed_elsewhere', { task_queue: `${parts.taskQueue}-billing` });
    const timeoutSeconds = await eventually('it is scheduled', async () => {
      const seconds = await heartbeatTimeoutOf(taskId);
      return seconds === undefined ? undefined : { seconds };
    });
    expect(timeoutSeconds).toEqual({ seconds: 0 });
    await client.request('tasks/cancel', { taskId });
    await client.until(taskId, 'cancelled');
  });

  test("of Longhaul's own worker must heartbeat", async () => {
    const { client } = parts;
    const taskId = await client.start('counted');
    await client.until(taskId, 'completed');
    expect(await heartbeatTimeoutOf(taskId)).toBe(60);
  });
});

test('the sandbox evaluates the modules of a run alone: another workflow whose module throws does not matter', async () => {
  const { client } = parts;
  const taskId = await client.start('broken_module');
  const task = await client.until(taskId, (one) => /keeps failing/.test(one.statusMessage ?? ''));
  expect(task.statusMessage).toContain('this module is evaluated');
  await (await parts.temporal()).workflow.getHandle(taskId).terminate('test is over');
});

test('the sandbox evaluates no zod for the shipped tools', () => {
  const bundle = readFileSync(resolve('dist/workflow-bundle.js'), 'utf8');
  expect(bundle).toContain('operations/tool/schema.js');
  expect(bundle).not.toMatch(/node_modules\/zod/);
});
