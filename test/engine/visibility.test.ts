/** Calls to visibility by a server with a low budget, which sessions and callers share. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { LegacyClient, secondServer, type Stream } from '../revision-2025-11-25/wire.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { TestStack } from '../support/test-stack.js';

const CALLS_PER_SECOND = 2;
const SESSIONS = 8;
const OBSERVED_MS = 6_000;

const proxy = await forAllTests(TemporalProxy.start(() => undefined));
proxy.record();
// Own stack: past runs of other files would fill further pages of the queries that are counted.
/** One server without a limit; a second one with the budget, and its connection to Temporal. */
const stack = await forAllTests(TestStack.start());
// Own server: with a low budget, behind a proxy.
const { url: limited } = await inSetUp(
  secondServer(stack, {
    LONGHAUL_VISIBILITY_CALLS_PER_SECOND: String(CALLS_PER_SECOND),
    TEMPORAL_ADDRESS: proxy.address,
  }),
);

const lists = () => proxy.calls.get('ListWorkflowExecutions') ?? 0;

test('the past runs of all tools are read by one query', async () => {
  const ofPastRuns = () =>
    proxy.recordedCalls("ExecutionStatus = 'Completed'")['ListWorkflowExecutions'] ?? 0;
  await eventually('they are read', () => ofPastRuns() > 0);
  await sleep(3_000);
  expect(ofPastRuns()).toBe(1);
});

test('all sessions that listen share a query, and find what other servers start', async () => {
  const sessions = await Promise.all(
    Array.from({ length: SESSIONS }, () => LegacyClient.open(`${stack.base}/mcp`, '2025-11-25')),
  );
  const streams = await Promise.all(sessions.map((session) => session.listen(undefined, limited)));
  const notified = (stream: Stream, taskId: string) =>
    stream.messages().some(({ params }) => params?.taskId === taskId);
  const tasks = await Promise.all(
    sessions.map((session) => session.task('confirm_delete', { filename: 'a.txt' })),
  );
  await eventually('each session is notified of its task', () =>
    tasks.every(({ taskId }, index) => notified(streams[index]!, taskId)),
  );
  await sleep(OBSERVED_MS);
  const before = lists();
  await sleep(OBSERVED_MS);
  // One query every 3 s.
  expect(lists() - before).toBeLessThanOrEqual(OBSERVED_MS / 3_000 + 1);
  const later = await Promise.all(
    sessions.map((session) => session.task('confirm_delete', { filename: 'a.txt' })),
  );
  await eventually('each session is notified of its next task', () =>
    later.every(({ taskId }, index) => notified(streams[index]!, taskId)),
  );
  for (const [index, stream] of streams.entries()) {
    const own = [tasks[index]!.taskId, later[index]!.taskId];
    for (const { params } of stream.messages()) if (params?.taskId) expect(own).toContain(params.taskId);
    stream.close();
  }
  await Promise.all(
    sessions.map((session, index) => session.request('tasks/cancel', { taskId: later[index]!.taskId })),
  );
});
