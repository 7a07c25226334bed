/** The cost of an operation's state at Temporal: writes to visibility, bytes of history and memo, queries. The figures of docs/scale.md. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import proto from '@temporalio/proto';
import { PROCESSES_MS } from '../support/limits.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { TestStack } from '../support/test-stack.js';

jest.setTimeout(PROCESSES_MS);

const { EventType } = proto.temporal.api.enums.v1;
const { Memo } = proto.temporal.api.common.v1;
/** Events after which Temporal writes the workflow's row in visibility. */
const WRITES: ReadonlySet<unknown> = new Set([
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
  EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED,
  EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
]);

let stack: TestStack;
let server: TemporalProxy;

beforeAll(async () => {
  server = await TemporalProxy.start(() => undefined);
  // Own stack: a proxy counts the server's queries.
  stack = await TestStack.serverAlone({
    LONGHAUL_PROJECT: resolve('test/core/project'),
    LONGHAUL_SHIPPED_TOOLS: 'false',
    TEMPORAL_ADDRESS: server.address,
  });
  stack.worker();
  await stack.ready();
}, PROCESSES_MS);
afterAll(async () => {
  await stack?.stop();
  await server?.close();
});

/** Cells of the path's row: exact numbers, or `≤ n KB`. */
function rowOf(path: string): string[] {
  const lines = readFileSync(resolve('docs/scale.md'), 'utf8').split('\n');
  const row = lines.find((line) => line.startsWith(`| ${path} `));
  return (row ?? '')
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim());
}

const fits = (cell: string, value: number) => {
  const most = /^≤ (\d+) KB$/.exec(cell)?.[1];
  return most === undefined ? cell === String(value) : value <= Number(most) * 1024;
};

async function measure(token: string): Promise<number[]> {
  const handle = (await stack.temporal()).workflow.getHandle(token);
  await handle.result();
  const { events } = await handle.fetchHistory();
  const { memo, historySizeBytes } = (await handle.describe()).raw.workflowExecutionInfo!;
  return [
    (events ?? []).filter(({ eventType }) => WRITES.has(eventType)).length,
    Number(historySizeBytes),
    server.recordedCalls(token)['QueryWorkflow'] ?? 0,
    Memo.encode(memo!).finish().length,
  ];
}

test.each([
  ['operation with one activity', 'counted'],
  ['operation with ten stages, an activity in each', 'ten_stages'],
  ['operation with 40 activities and a partial result of 60 KB', 'forty_activities'],
])('%s: visibility writes, bytes of history, queries, bytes of memo', async (path, tool) => {
  server.record();
  const token = await stack.client.start(tool);
  await stack.client.until(token, 'completed');
  const measured = await measure(token);
  const cells = rowOf(path);
  const wrong = measured.filter((value, at) => !fits(cells[at] ?? 'no such row', value));
  expect({ path, wrong, measured }).toEqual({ path, wrong: [], measured });
});
