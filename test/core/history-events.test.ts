/** Options of activities, and the modules that a run evaluates. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

let parts: TestStack;

beforeAll(async () => {
  // Own stack: a project whose histories are counted, without the shipped tools.
  parts = await TestStack.start({
    LONGHAUL_PROJECT: resolve('test/core/project'),
    LONGHAUL_SHIPPED_TOOLS: 'false',
  });
}, PROCESSES_MS);
afterAll(() => parts?.stop());

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

describe('the sandbox', () => {
  test('evaluates the modules of a run alone: another workflow whose module throws does not matter', async () => {
    const { client } = parts;
    const taskId = await client.start('broken_module');
    const task = await client.until(taskId, (one) => /keeps failing/.test(one.statusMessage ?? ''));
    expect(task.statusMessage).toContain('this module is evaluated');
    await (await parts.temporal()).workflow.getHandle(taskId).terminate('test is over');
  });

  test('evaluates no zod for the shipped tools', () => {
    const bundle = readFileSync(resolve('dist/workflow-bundle.js'), 'utf8');
    expect(bundle).toContain('operations/tool/schema.js');
    expect(bundle).not.toMatch(/node_modules\/zod/);
  });
});
