/** Settings of Temporal's Worker, by their effect on operations and on Temporal. */
import proto from '@temporalio/proto';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forThisTest } from '../support/for-all-tests.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { COUNTED_PROJECT, TestStack, type Part } from '../support/test-stack.js';

const { EventType } = proto.temporal.api.enums.v1;

// Own stacks in this file: each has other settings of the worker.
const start = (environment: Record<string, string>): Promise<TestStack> =>
  forThisTest(TestStack.start({ ...COUNTED_PROJECT, ...environment }));

/** Milliseconds since the epoch of an operation's events of a type. */
async function timesOf(stack: TestStack, taskId: string, type: number): Promise<number[]> {
  const { events } = await (await stack.temporal()).workflow.getHandle(taskId).fetchHistory();
  return events!.filter(({ eventType }) => eventType === type).map(({ eventTime }) => tsToMs(eventTime));
}

/** Starts so many operations of one activity, and returns the activities' starts in order, in milliseconds. */
async function activityStarts(stack: TestStack, count: number): Promise<number[]> {
  const { client } = stack;
  const taskIds = await Promise.all(Array.from({ length: count }, () => client.start('counted')));
  await Promise.all(taskIds.map((taskId) => client.until(taskId, 'completed')));
  const type = EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED;
  const times = await Promise.all(taskIds.map((taskId) => timesOf(stack, taskId, type)));
  return times.flat().sort((one, other) => one - other);
}

/** The largest numbers of activities and of local activities that the worker ran at once. */
async function atOnce({ client }: TestStack): Promise<{ activities: number; localActivities: number }> {
  const task = await client.until(await client.start('side_by_side'), 'completed');
  return task.result.structuredContent;
}

describe('a worker with one slot, a cache for two workflows and a time-out of sticky queues', () => {
  let stack: TestStack;
  let proxy: TemporalProxy;
  let worker: Part;
  beforeAll(async () => {
    proxy = await TemporalProxy.start(() => undefined);
    proxy.record();
    stack = await TestStack.serverAlone(COUNTED_PROJECT);
    worker = stack.worker({
      LONGHAUL_MAX_CONCURRENT_ACTIVITY_TASK_EXECUTIONS: '1',
      LONGHAUL_MAX_CACHED_WORKFLOWS: '0.6MB',
      LONGHAUL_STICKY_QUEUE_SCHEDULE_TO_START_TIMEOUT_SECONDS: '4',
      TEMPORAL_ADDRESS: proxy.address,
    });
    await stack.ready();
  });
  afterAll(async () => {
    await stack?.stop();
    await proxy?.close();
  });

  /** Starts an operation that asks. */
  async function ask(): Promise<string> {
    const taskId = await stack.client.start('asked');
    await stack.client.until(taskId, 'input_required');
    return taskId;
  }

  async function complete(taskId: string): Promise<void> {
    await stack.client.answer(taskId, 'input-1', { action: 'accept', content: { approve: true } });
    await stack.client.until(taskId, 'completed');
  }

  test('runs one activity at a time', async () => {
    expect(await atOnce(stack)).toMatchObject({ activities: 1 });
  });

  test('replays the workflows that its cache has no room for', async () => {
    const [first = ''] = [await ask(), await ask(), await ask()];
    expect(proxy.recordedCalls(first)).not.toHaveProperty('GetWorkflowExecutionHistory');
    await complete(first);
    expect(proxy.recordedCalls(first)).toHaveProperty('GetWorkflowExecutionHistory');
  });

  test("passes on a workflow task after the sticky queue's time-out when it is killed", async () => {
    const taskId = await ask();
    await worker.end('SIGKILL');
    stack.worker();
    await complete(taskId);
    const [timeOut] = await timesOf(stack, taskId, EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT);
    const scheduled = await timesOf(stack, taskId, EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED);
    const before = scheduled.filter((time) => time < timeOut!).at(-1)!;
    expect(timeOut! - before).toBeGreaterThanOrEqual(3_900);
  });
});

test('with targets, slots beyond the first are handed out while CPU and memory are below them', async () => {
  const full = await start({ LONGHAUL_TARGET_CPU_USAGE: '1', LONGHAUL_TARGET_MEMORY_USAGE: '0.01' });
  expect(await atOnce(full)).toEqual({ activities: 1, localActivities: 1 });
  await full.stop();
  const free = await start({ LONGHAUL_TARGET_CPU_USAGE: '1', LONGHAUL_TARGET_MEMORY_USAGE: '1' });
  // A machine that is busy for a while is at its target.
  await eventually(
    'several run at once',
    async () => {
      const { activities, localActivities } = await atOnce(free);
      return activities > 1 && localActivities > 1;
    },
    PROCESSES_MS,
  );
});

test('a rate of the task queue spaces the starts of activities', async () => {
  const stack = await start({ LONGHAUL_MAX_TASK_QUEUE_ACTIVITIES_PER_SECOND: '2' });
  const starts = await activityStarts(stack, 8);
  expect(starts).toHaveLength(8);
  // The first two or three may start at once.
  expect(starts.at(-1)! - starts[0]!).toBeGreaterThan(2_000);
});
