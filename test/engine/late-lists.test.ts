/** Visibility that lags by 10 s: operations are read as they are, only lists are late. */
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import proto from '@temporalio/proto';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { TestStack } from '../support/test-stack.js';

const LAG_MS = 10_000;

const { ListWorkflowExecutionsResponse } = proto.temporal.api.workflowservice.v1;
const { WorkflowExecutionStatus } = proto.temporal.api.enums.v1;
type Timestamp = proto.google.protobuf.ITimestamp;

const milliseconds = (time: Timestamp | null | undefined) => Number(time?.seconds ?? 0) * 1_000;

/** Temporal's list without the runs that began within the lag, and with those that ended within it as running. */
function lateList(message: Buffer): Uint8Array {
  const { executions, nextPageToken } = ListWorkflowExecutionsResponse.decode(message);
  const until = Date.now() - LAG_MS;
  const known = executions.filter(({ startTime }) => milliseconds(startTime) <= until);
  for (const run of known)
    if (run.closeTime && milliseconds(run.closeTime) > until) {
      run.closeTime = null;
      run.status = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;
    }
  return ListWorkflowExecutionsResponse.encode({ executions: known, nextPageToken }).finish();
}

const proxy = await forAllTests(TemporalProxy.start(() => undefined));
proxy.rewrite = ({ method }) => (method === 'ListWorkflowExecutions' ? lateList : undefined);
// Own server: a proxy changes Temporal's lists.
const stack = await forAllTests(TestStack.serverOnSharedWorker({ TEMPORAL_ADDRESS: proxy.address }));

async function call(name: string, args: object): Promise<any> {
  return (await stack.client.call(name, args)).result;
}

/** Status in the list of operations with this idempotency key; undefined while it isn't listed. */
async function listedStatus(key: string): Promise<string | undefined> {
  const { structuredContent } = await call('operation_list', { idempotency_key: key });
  return structuredContent.operations[0]?.status;
}

test('an operation that no list has yet is read, repeated, answered and completed; the list follows', async () => {
  const { client } = stack;
  const key = randomUUID();
  const start = { filename: 'late.txt', idempotency_key: key };
  const taskId = await client.start('confirm_delete', start);
  await client.until(taskId, 'input_required');
  expect(await listedStatus(key)).toBeUndefined();
  expect(await client.start('confirm_delete', start)).toBe(taskId);
  await client.accept(taskId, { confirm: true });
  await client.until(taskId, 'completed');
  const read = await call('operation_get', { token: taskId });
  expect(read.structuredContent).toMatchObject({ status: 'completed' });
  expect(await listedStatus(key)).toBeUndefined();
  const statuses = new Set<string | undefined>();
  await eventually('the list shows it as completed', async () => {
    const status = await listedStatus(key);
    statuses.add(status);
    return status === 'completed';
  });
  expect(statuses).not.toContain('failed');
  expect((await client.get(taskId)).status).toBe('completed');
});
