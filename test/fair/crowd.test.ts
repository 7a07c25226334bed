/** A crowd in one queue: each operation gets one turn, whatever happens to the queue's runs and workers. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { REFUSAL_QUERY, TURN_CHANGES_SIGNAL, queueWorkflowId } from '../../operations/wire/queue-wire.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { type Part, TestStack } from '../support/test-stack.js';

const { EventType } = proto.temporal.api.enums.v1;
const OPERATIONS = 200;
const AT_ONCE = 8;
/** Returns of nobody: with them, the queue continues as new. */
const RETURNS = 520;

const folder = temporaryFolder('crowd');
// Own stack: a worker is killed.
const stack = await forAllTests(
  TestStack.start({
    LONGHAUL_PROJECT: resolve('test/fair/project'),
    LONGHAUL_SHIPPED_TOOLS: 'false',
    LONGHAUL_KICKOFFS_PER_MINUTE: '10000',
  }),
);
let [, worker] = stack.parts as [Part, Part];
const temporal = await stack.temporal();

const eventsOf = async (handle: Pick<WorkflowHandle, 'fetchHistory'>, type: number) =>
  ((await handle.fetchHistory()).events ?? []).filter(({ eventType }) => eventType === type);

/** When the operation's activity was scheduled and completed, for each activity in its history. */
async function work(handle: WorkflowHandle): Promise<[from: number, to: number][]> {
  const times = async (type: number) =>
    (await eventsOf(handle, type)).map(
      ({ eventTime }) => Number(eventTime!.seconds) * 1e3 + eventTime!.nanos! / 1e6,
    );
  const ends = await times(EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED);
  return (await times(EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)).map((from, at) => [from, ends[at]!]);
}

const mostAtOnce = (all: [from: number, to: number][]) =>
  Math.max(...all.map(([from]) => all.filter((other) => other[0] <= from && from < other[1]).length));

const inParts = async <Item>(items: Item[], run: (item: Item) => Promise<unknown>) => {
  const left = [...items];
  const lane = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: 16 }, lane));
};

test('200 operations get one turn each while the queue continues as new and its worker is killed', async () => {
  const queueId = queueWorkflowId(stack.taskQueue, 'crowd');
  const queue = temporal.workflow.getHandle(queueId);
  const count = async (query: string) =>
    (await temporal.workflow.count(`TaskQueue = '${stack.taskQueue}' AND ${query}`)).count;
  /** Operations that the queue has, by why it would refuse one more with these limits. */
  const crowd = async () => {
    const limits = { name: 'crowd', concurrency: 1, maxWaiting: 0, waitSeconds: 1 };
    const { running = 0, waiting = 0 } = (await queue.query(REFUSAL_QUERY, 'nobody', limits)) ?? {};
    return running + waiting;
  };
  const ids: string[] = [];
  await inParts(
    Array.from({ length: OPERATIONS }, (_, at) => `job-${at}`),
    async (name) => void ids.push(await stack.client.start('crowd', { folder, name })),
  );
  await eventually('the queue has them all', async () => (await crowd()) === OPERATIONS);
  writeFileSync(join(folder, 'release'), '');
  await eventually(
    'some have ended',
    async () => (await count("WorkflowType = 'crowd' AND ExecutionStatus = 'Completed'")) >= 20,
  );
  await worker.end('SIGKILL');
  await inParts(
    Array.from({ length: RETURNS }, (_, at) => `nobody-${at}`),
    (id) => queue.signal(TURN_CHANGES_SIGNAL, [{ return: id }]),
  );
  worker = stack.worker();
  await Promise.all(ids.map((id) => temporal.workflow.getHandle(id).result()));

  const works = await Promise.all(ids.map((id) => work(temporal.workflow.getHandle(id))));
  expect(works.map((each) => each.length)).toEqual(ids.map(() => 1));
  expect(mostAtOnce(works.flat())).toBe(AT_ONCE);
  await eventually('all turns are back', async () => (await crowd()) === 0);
  const runs = await eventually('lists have the run that the queue began', async () => {
    const found: string[] = [];
    for await (const { runId } of temporal.workflow.list({ query: `WorkflowId = '${queueId}'` }))
      found.push(runId);
    return found.length > 1 ? found : undefined;
  });
  const signals = await Promise.all(
    runs.map((runId) =>
      eventsOf(temporal.workflow.getHandle(queueId, runId), EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED),
    ),
  );
  // One for each request and return, unless they came together.
  expect(signals.flat().length - RETURNS).toBeLessThan(2 * OPERATIONS);
});
