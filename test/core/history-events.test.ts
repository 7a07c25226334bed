/** Cost of an operation in history: its events, and the modules that a run evaluates. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

const { EventType } = proto.temporal.api.enums.v1;
let parts: TestStack;

beforeAll(async () => {
  // Own stack: a project whose histories are counted, without the shipped tools.
  parts = await TestStack.start({
    LONGHAUL_PROJECT: resolve('test/core/project'),
    LONGHAUL_SHIPPED_TOOLS: 'false',
  });
}, PROCESSES_MS);
afterAll(() => parts?.stop());

/** Types of an operation's events, without the prefix and the events of workflow tasks. */
async function eventsOf(taskId: string): Promise<{ all: number; own: string[] }> {
  const { events } = await (await parts.temporal()).workflow.getHandle(taskId).fetchHistory();
  const types = events!.map(({ eventType }) => EventType[eventType!].replace('EVENT_TYPE_', ''));
  return { all: types.length, own: types.filter((type) => !type.startsWith('WORKFLOW_TASK_')) };
}

describe('history has', () => {
  test('12 events for one activity that reports progress, which the closed operation still shows', async () => {
    const { client } = parts;
    const taskId = await client.start('counted');
    const task = await client.until(taskId, 'completed');
    expect(await eventsOf(taskId)).toEqual({
      all: 12,
      own: [
        'WORKFLOW_EXECUTION_STARTED',
        'ACTIVITY_TASK_SCHEDULED',
        'TIMER_STARTED',
        'ACTIVITY_TASK_STARTED',
        'ACTIVITY_TASK_COMPLETED',
        'WORKFLOW_EXECUTION_COMPLETED',
      ],
    });
    expect(task.result.structuredContent).toEqual({ counted: 3 });
    expect(task._meta['longhaul/progress']).toMatchObject({ progress: 3, total: 3 });
    // Temporal's own clients get what the workflow returned.
    expect(await (await parts.temporal()).workflow.getHandle(taskId).result()).toEqual({ counted: 3 });
  });

  test('one memo event as a question is asked, and one as it is answered', async () => {
    const { client } = parts;
    const taskId = await client.start('asked');
    const task = await client.until(taskId, 'input_required');
    const [key] = Object.keys(task.inputRequests);
    await client.answer(taskId, key!, { action: 'accept', content: { approve: true } });
    const { result } = await client.until(taskId, 'completed');
    expect(result.structuredContent.answer.content).toEqual({ approve: true, note: 'none' });
    expect((await eventsOf(taskId)).own).toEqual([
      'WORKFLOW_EXECUTION_STARTED',
      'WORKFLOW_PROPERTIES_MODIFIED',
      'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
      'WORKFLOW_PROPERTIES_MODIFIED',
      'WORKFLOW_EXECUTION_UPDATE_ACCEPTED',
      'WORKFLOW_EXECUTION_UPDATE_COMPLETED',
      'WORKFLOW_EXECUTION_COMPLETED',
    ]);
  });
});

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
