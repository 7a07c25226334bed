/** The cost of an operation's state at Temporal: writes to visibility, bytes of history and memo, queries. The figures of docs/scale.md. */
import { test } from '@jest/globals';
import proto from '@temporalio/proto';
import { expectRow } from '../support/cost-table.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { COUNTED_PROJECT, TestStack } from '../support/test-stack.js';

const { EventType } = proto.temporal.api.enums.v1;
const { Memo } = proto.temporal.api.common.v1;
/** Events after which Temporal writes the workflow's row in visibility. */
const WRITES: ReadonlySet<unknown> = new Set([
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
  EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED,
  EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
]);

const server = await forAllTests(TemporalProxy.start(() => undefined));
// Own stack: a proxy counts the server's queries.
const stack = await forAllTests(
  TestStack.serverAlone({ ...COUNTED_PROJECT, TEMPORAL_ADDRESS: server.address }),
);
stack.worker();
await inSetUp(stack.ready());

async function measure(token: string): Promise<Record<string, number>> {
  const handle = (await stack.temporal()).workflow.getHandle(token);
  await handle.result();
  const { events } = await handle.fetchHistory();
  const { memo, historySizeBytes } = (await handle.describe()).raw.workflowExecutionInfo!;
  return {
    writes: (events ?? []).filter(({ eventType }) => WRITES.has(eventType)).length,
    historyBytes: Number(historySizeBytes),
    queries: server.recordedCalls(token)['QueryWorkflow'] ?? 0,
    memoBytes: Memo.encode(memo!).finish().length,
  };
}

test.each([
  ['operation with one activity', 'counted'],
  ['operation with ten stages, an activity in each', 'ten_stages'],
  ['operation with 40 activities and a partial result of 60 KB', 'forty_activities'],
])('%s: visibility writes, bytes of history, queries, bytes of memo', async (path, tool) => {
  server.record();
  const token = await stack.client.start(tool);
  await stack.client.until(token, 'completed');
  expectRow('docs/scale.md', path, await measure(token));
});
