/** Queries and writes to visibility of each path, counted at Temporal. The figures are those of docs/cost.md, which this test reads. */
import { expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { listHosts } from '../../cli/doctor/hosts.js';
import { queueWorkflowId } from '../../operations/wire/queue-wire.js';
import { loggedLines, openEvents } from '../http-jobs/sse.js';
import { eventually } from '../stack/cli-process.js';
import { expectRow } from '../support/cost-table.js';
import { forAllTests } from '../support/for-all-tests.js';
import { historyCost } from '../support/history-cost.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { COUNTED_PROJECT, TestStack } from '../support/test-stack.js';

/** The connection of server and worker. */
const temporal = await forAllTests(TemporalProxy.start(() => undefined));
temporal.record();
// Own stack: the proxy counts the calls of its processes.
const stack = await forAllTests(TestStack.start({ ...COUNTED_PROJECT, TEMPORAL_ADDRESS: temporal.address }));
const { jobs } = stack;

const expectCost = (path: string, queries: number, writes: number) =>
  expectRow('docs/cost.md', path, { queries, writes });
const queriesOf = (workflowId: string) => temporal.recordedCalls(workflowId)['QueryWorkflow'] ?? 0;
const allQueries = () => temporal.calls.get('QueryWorkflow') ?? 0;
const writesOf = async (workflowId: string) =>
  (await historyCost(await stack.temporal(), workflowId)).visibilityWrites;

test.each([
  ['operation with one activity', 'counted'],
  ['operation with one activity and a queue', 'counted_in_turn'],
  ['pipeline with one job of one step', 'one_step'],
])('%s', async (path, tool) => {
  const id = await jobs.start(tool);
  await jobs.until(id, 'succeeded');
  expectCost(path, queriesOf(id), await writesOf(id));
});

test('an operation with a question, and a reader of its events', async () => {
  const id = await jobs.start('asked');
  const stream = await openEvents(jobs.base, id);
  const asked = await eventually('it asks', () =>
    stream.events.find(({ event }) => event === 'input_required'),
  );
  const writes = await writesOf(id);
  expectCost('events of an operation without steps', queriesOf(id), (await writesOf(id)) - writes);
  await jobs.post(`/v1/jobs/${id}/input`, { key: asked.data.key, value: { approve: true } });
  await jobs.until(id, 'succeeded');
  stream.close();
  expectCost('operation with one question, answered', queriesOf(id), await writesOf(id));
});

test('the readers of a pipeline', async () => {
  const id = await jobs.start('said_then_asked');
  const stream = await openEvents(jobs.base, id);
  // The line has no end, so it comes once the reader knows that its step has ended.
  await eventually('the line has come', () => loggedLines(stream.events)['only/1']);
  await eventually('it asks', () => stream.events.find(({ event }) => event === 'input_required'));
  expect(loggedLines(stream.events)['only/1']?.map(({ text }) => text)).toEqual(['hello, without a newline']);
  const writes = await writesOf(id);
  expectCost('events of a pipeline, for each step', queriesOf(id), 0);
  stream.close();

  let before = allQueries();
  expect((await jobs.get(`/v1/jobs/${id}/logs`)).body.steps).toHaveLength(2);
  expectCost('steps of an open pipeline', allQueries() - before, (await writesOf(id)) - writes);

  before = allQueries();
  const connection = await Connection.connect({ address: temporal.address });
  const { hosts, unread } = await listHosts(new Client({ connection }), stack.taskQueue);
  await connection.close();
  const job = expect.objectContaining({ token: id, job: 'only', status: 'input_required' });
  expect({ unread, jobs: hosts.flatMap((host) => host.jobs) }).toEqual({ unread: [], jobs: [job] });
  expectCost('`longhaul hosts`', allQueries() - before, (await writesOf(id)) - writes);
  await jobs.post(`/v1/jobs/${id}:cancel`);
});

test('the readers of a queue and of a large partial result', async () => {
  const queue = queueWorkflowId(stack.taskQueue, 'held');
  const first = await jobs.start('held');
  const partial = await eventually('it has a partial result', async () => {
    const { status, body } = await jobs.get(`/v1/jobs/${first}/partial`);
    return status === 200 ? body : undefined;
  });
  expect(partial.text).toHaveLength(300_000);
  expectCost('partial result of an open operation', queriesOf(first), 0);

  const before = await writesOf(queue);
  const second = await jobs.start('held');
  await jobs.until(second, ({ status_message }) => status_message === 'waiting for its turn: it is next');
  expectCost('place in a queue', queriesOf(queue), 0);
  await jobs.post(`/v1/jobs/${second}:cancel`);
  await jobs.until(second, 'canceled');
  await eventually('its place is gone', async () => (await writesOf(queue)) === before + 2);
  expectCost('queue, for an operation that waits', queriesOf(queue), (await writesOf(queue)) - before);
  await jobs.post(`/v1/jobs/${first}:cancel`);
});
