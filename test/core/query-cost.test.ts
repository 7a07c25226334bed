/** Queries and writes to visibility of each path, counted at Temporal. The figures are those of docs/cost.md, which this test reads. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { listHosts } from '../../cli/doctor/hosts.js';
import { queueWorkflowId } from '../../operations/wire/queue-wire.js';
import { loggedLines, openEvents } from '../http-jobs/sse.js';
import { eventually } from '../stack/cli-process.js';
import { historyCost } from '../support/history-cost.js';
import { JobsClient } from '../support/jobs.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { TestStack } from '../support/test-stack.js';

jest.setTimeout(PROCESSES_MS);

let stack: TestStack;
/** The connection of server and worker. */
let temporal: TemporalProxy;
let jobs: JobsClient;

beforeAll(async () => {
  temporal = await TemporalProxy.start(() => undefined);
  temporal.record();
  // Own stack: the proxy counts the calls of its processes.
  stack = await TestStack.start({
    TEMPORAL_ADDRESS: temporal.address,
    LONGHAUL_PROJECT: resolve('test/core/project'),
    LONGHAUL_PIPELINE_FOLDERS: resolve('test/core/project/pipelines'),
    LONGHAUL_SHIPPED_TOOLS: 'false',
  });
  jobs = new JobsClient(stack.base);
}, PROCESSES_MS);
afterAll(async () => {
  await stack?.stop();
  await temporal?.close();
});

/** Expects what was measured to be what the row of the table says; a cell is a number, or `≤ n`. */
function expectRow(path: string, queries: number, writes: number): void {
  const lines = readFileSync(resolve('docs/cost.md'), 'utf8').split('\n');
  const cells = lines.map((line) => line.split('|').map((cell) => cell.trim()));
  const row = cells.find((one) => one.length === 5 && one[1] === path) ?? [];
  const fits = (cell = 'no such row', value: number) =>
    cell.startsWith('≤ ') ? value <= Number(cell.slice(2)) : cell === String(value);
  const isRight = fits(row[2], queries) && fits(row[3], writes);
  expect({ path, queries, writes, isRight }).toEqual({ path, queries, writes, isRight: true });
}

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
  expectRow(path, queriesOf(id), await writesOf(id));
});

test('an operation with a question, and a reader of its events', async () => {
  const id = await jobs.start('asked');
  const stream = await openEvents(jobs.base, id);
  const asked = await eventually('it asks', () =>
    stream.events.find(({ event }) => event === 'input_required'),
  );
  const writes = await writesOf(id);
  expectRow('events of an operation without steps', queriesOf(id), (await writesOf(id)) - writes);
  await jobs.post(`/v1/jobs/${id}/input`, { key: asked.data.key, value: { approve: true } });
  await jobs.until(id, 'succeeded');
  stream.close();
  expectRow('operation with one question, answered', queriesOf(id), await writesOf(id));
});

test('the readers of a pipeline', async () => {
  const id = await jobs.start('said_then_asked');
  const stream = await openEvents(jobs.base, id);
  // The line has no end, so it comes once the reader knows that its step has ended.
  await eventually('the line has come', () => loggedLines(stream.events)['only/1']);
  await eventually('it asks', () => stream.events.find(({ event }) => event === 'input_required'));
  expect(loggedLines(stream.events)['only/1']?.map(({ text }) => text)).toEqual(['hello, without a newline']);
  const writes = await writesOf(id);
  expectRow('events of a pipeline, for each step', queriesOf(id), 0);
  stream.close();

  let before = allQueries();
  expect((await jobs.get(`/v1/jobs/${id}/logs`)).body.steps).toHaveLength(2);
  expectRow('steps of an open pipeline', allQueries() - before, (await writesOf(id)) - writes);

  before = allQueries();
  const connection = await Connection.connect({ address: temporal.address });
  const { hosts, unread } = await listHosts(new Client({ connection }), stack.taskQueue);
  await connection.close();
  const job = expect.objectContaining({ token: id, job: 'only', status: 'input_required' });
  expect({ unread, jobs: hosts.flatMap((host) => host.jobs) }).toEqual({ unread: [], jobs: [job] });
  expectRow('`longhaul hosts`', allQueries() - before, (await writesOf(id)) - writes);
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
  expectRow('partial result of an open operation', queriesOf(first), 0);

  const before = await writesOf(queue);
  const second = await jobs.start('held');
  await jobs.until(second, ({ status_message }) => status_message === 'waiting for its turn: it is next');
  expectRow('place in a queue', queriesOf(queue), 0);
  await jobs.post(`/v1/jobs/${second}:cancel`);
  await jobs.until(second, 'canceled');
  await eventually('its place is gone', async () => (await writesOf(queue)) === before + 2);
  expectRow('queue, for an operation that waits', queriesOf(queue), (await writesOf(queue)) - before);
  await jobs.post(`/v1/jobs/${first}:cancel`);
});
