/** Settings of Temporal's Worker, by their effect on operations and on Temporal. */
import { resolve } from 'node:path';
import proto from '@temporalio/proto';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { afterEach, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { OUTAGE_MS, PROCESSES_MS } from '../support/limits.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { TestStack } from '../support/test-stack.js';

const { EventType } = proto.temporal.api.enums.v1;
jest.setTimeout(PROCESSES_MS);

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const PROJECT = { LONGHAUL_PROJECT: resolve('test/core/project'), LONGHAUL_SHIPPED_TOOLS: 'false' };

async function start(environment: Record<string, string> = {}): Promise<TestStack> {
  // Own stacks in this file: each test sets the worker's settings.
  const stack = await TestStack.start({ ...PROJECT, ...environment });
  ends.push(() => stack.stop());
  return stack;
}

/** A server, and a worker whose calls to Temporal are recorded. */
async function startRecorded(
  environment: Record<string, string>,
): Promise<{ stack: TestStack; proxy: TemporalProxy }> {
  const proxy = await TemporalProxy.start(() => undefined);
  ends.push(() => proxy.close());
  proxy.record();
  const stack = await TestStack.serverAlone(PROJECT);
  ends.push(() => stack.stop());
  stack.worker({ ...environment, TEMPORAL_ADDRESS: proxy.address });
  await stack.ready();
  return { stack, proxy };
}

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

test('slots bound how many activities a worker runs at once', async () => {
  const stack = await start({ LONGHAUL_MAX_CONCURRENT_ACTIVITY_TASK_EXECUTIONS: '1' });
  expect(await atOnce(stack)).toMatchObject({ activities: 1 });
});

test(
  'with targets, slots beyond the first are handed out while CPU and memory are below them',
  async () => {
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
  },
  OUTAGE_MS,
);

test('a rate of the task queue spaces the starts of activities', async () => {
  const stack = await start({ LONGHAUL_MAX_TASK_QUEUE_ACTIVITIES_PER_SECOND: '2' });
  const starts = await activityStarts(stack, 8);
  expect(starts).toHaveLength(8);
  // The first two or three may start at once.
  expect(starts.at(-1)! - starts[0]!).toBeGreaterThan(2_000);
});

test('a cache for two workflows, given as memory, has others replayed', async () => {
  const { stack, proxy } = await startRecorded({ LONGHAUL_MAX_CACHED_WORKFLOWS: '0.6MB' });
  const { client } = stack;
  const taskIds: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    taskIds.push(await client.start('asked'));
    await client.until(taskIds.at(-1)!, 'input_required');
  }
  const task = await client.get(taskIds[0]!);
  const [key] = Object.keys(task.inputRequests);
  expect(proxy.recordedCalls(taskIds[0]!)).not.toHaveProperty('GetWorkflowExecutionHistory');
  await client.answer(taskIds[0]!, key!, { action: 'accept', content: { approve: true } });
  await client.until(taskIds[0]!, 'completed');
  expect(proxy.recordedCalls(taskIds[0]!)).toHaveProperty('GetWorkflowExecutionHistory');
});

test("a killed worker's workflow task is passed on after the sticky queue's time-out", async () => {
  const stack = await TestStack.serverAlone({
    ...PROJECT,
    LONGHAUL_STICKY_QUEUE_SCHEDULE_TO_START_TIMEOUT_SECONDS: '4',
  });
  ends.push(() => stack.stop());
  const killed = stack.worker();
  await stack.ready();
  const { client } = stack;
  const taskId = await client.start('asked');
  const { inputRequests } = await client.until(taskId, 'input_required');
  await killed.end('SIGKILL');
  stack.worker();
  const answer = { action: 'accept', content: { approve: true } };
  await client.answer(taskId, Object.keys(inputRequests)[0]!, answer);
  await client.until(taskId, 'completed');
  const [timedOut] = await timesOf(stack, taskId, EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT);
  const scheduled = await timesOf(stack, taskId, EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED);
  const before = scheduled.filter((time) => time < timedOut!).at(-1)!;
  expect(timedOut! - before).toBeGreaterThanOrEqual(3_900);
});

test('workflow tasks of a worker that stops wait for no time-out', async () => {
  const stack = await TestStack.serverAlone({
    ...PROJECT,
    LONGHAUL_STICKY_QUEUE_SCHEDULE_TO_START_TIMEOUT_SECONDS: '60',
  });
  ends.push(() => stack.stop());
  const stopped = stack.worker();
  await stack.ready();
  const { client } = stack;
  const taskId = await client.start('asked');
  const { inputRequests } = await client.until(taskId, 'input_required');
  await stopped.end();
  stack.worker();
  const answer = { action: 'accept', content: { approve: true } };
  await client.answer(taskId, Object.keys(inputRequests)[0]!, answer);
  await client.until(taskId, 'completed');
  expect(await timesOf(stack, taskId, EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT)).toEqual([]);
});
