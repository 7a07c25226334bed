/** A Temporal that limits requests: every third call is refused. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { NativeConnection } from '@temporalio/worker';
import { isThrottled, retryDelayMs } from '../../platform/temporal/grpc-errors.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TemporalProxy, type Decide } from '../support/temporal-proxy.js';
import { TestStack } from '../support/test-stack.js';

const REFUSAL = { code: 8, message: 'namespace rate limit exceeded' };
const OPERATIONS = 20;

const proxy = await forAllTests(TemporalProxy.start(() => undefined));
// Own stack: a proxy refuses calls.
const stack = await forAllTests(TestStack.start({ TEMPORAL_ADDRESS: proxy.address }));

let refusedBefore: number;
const refusedCalls = () => proxy.refusedCalls - refusedBefore;
beforeEach(() => {
  refusedBefore = proxy.refusedCalls;
});
afterEach(() => {
  proxy.decide = () => undefined;
});

function everyThird(): Decide {
  let count = 0;
  return () => ((count += 1) % 3 === 0 ? REFUSAL : undefined);
}

test('where every third call is refused, all operations complete, and every error of a call is retryable', async () => {
  const { client } = stack;
  proxy.decide = everyThird();
  /** Data of the errors. */
  const errors: any[] = [];
  /** Repeats a request while its error says that it may succeed later. */
  const request = async (method: string, params: object): Promise<any> => {
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const { result, error } = await client.request(method, params);
      if (!error && !result?.isError) return result;
      const data = error?.data ?? result?._meta?.['longhaul/error'];
      errors.push(data);
      if (!data?.retryable) throw new Error(JSON.stringify(error ?? result));
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    throw new Error('no attempt succeeded');
  };
  const complete = async (index: number): Promise<any> => {
    const call = { name: 'confirm_delete', arguments: { filename: `${index}.txt` } };
    const { taskId } = await request('tools/call', call);
    for (;;) {
      const task = await request('tasks/get', { taskId });
      if (task.status === 'input_required') {
        const inputResponses = Object.fromEntries(
          Object.keys(task.inputRequests).map((key) => [
            key,
            { action: 'accept', content: { confirm: true } },
          ]),
        );
        await request('tasks/update', { taskId, inputResponses });
      }
      if (task.status === 'completed') return task.result.structuredContent;
      expect(['working', 'input_required']).toContain(task.status);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  };
  const results = await Promise.all(Array.from({ length: OPERATIONS }, (_, index) => complete(index)));
  expect(results.map(({ deleted }) => deleted)).toEqual(
    Array.from({ length: OPERATIONS }, (_, index) => [`${index}.txt`]),
  );
  for (const data of errors) expect(data).toMatchObject({ kind: 'unavailable', retryable: true });
  expect(refusedCalls()).toBeGreaterThan(0);
});

/** A task that waits for its answer. */
async function askedTask({ client }: TestStack) {
  const call = { name: 'confirm_delete', arguments: { filename: 'a.txt' } };
  const { taskId } = (await client.request('tools/call', call)).result;
  const read = async (): Promise<any> => (await client.request('tasks/get', { taskId })).result;
  await eventually('the question is open', async () => (await read()).status === 'input_required');
  const [key = ''] = Object.keys((await read()).inputRequests);
  return { client, taskId, key, read };
}

test('an answer that Temporal took counts as accepted, though its response was lost and the operation has ended by it', async () => {
  const { client, taskId, key, read } = await askedTask(stack);
  proxy.decide = ({ method }) =>
    method === 'UpdateWorkflowExecution' ? { ...REFUSAL, isPassedOn: true } : undefined;
  const inputResponses = { [key]: { action: 'accept', content: { confirm: true } } };
  expect(await client.request('tasks/update', { taskId, inputResponses })).not.toHaveProperty('error');
  await eventually('it has completed', async () => (await read()).status === 'completed');
  expect((await read()).result.structuredContent).toMatchObject({ deleted: ['a.txt'] });
  expect(refusedCalls()).toBeGreaterThan(0);
});

test('an update that Temporal aborts is followed by a signal, and counts', async () => {
  for (const code of [2, 10, 13]) {
    proxy.decide = () => undefined;
    const { client, taskId, key, read } = await askedTask(stack);
    proxy.decide = ({ method }) =>
      method === 'UpdateWorkflowExecution' ? { code, message: 'workflow update was aborted' } : undefined;
    const inputResponses = { [key]: { action: 'accept', content: { confirm: true } } };
    expect(await client.request('tasks/update', { taskId, inputResponses })).not.toHaveProperty('error');
    await eventually('it has completed', async () => (await read()).status === 'completed');
  }
  expect(refusedCalls()).toBeGreaterThan(2);
});

test('the pause that Temporal asks for is read from the error of a long poll', async () => {
  proxy.decide = ({ method }) =>
    method === 'GetWorkflowExecutionHistory' ? { ...REFUSAL, retryAfterSeconds: 40 } : undefined;
  const connection = await NativeConnection.connect({ address: proxy.address });
  const error = await connection.workflowService
    .getWorkflowExecutionHistory({
      namespace: 'default',
      execution: { workflowId: 'any' },
      waitNewEvent: true,
    })
    .catch((reason: unknown) => reason)
    .finally(() => connection.close());
  expect(isThrottled(error)).toBe(true);
  expect(retryDelayMs(new Error('with a cause', { cause: error }))).toBe(40_000);
  expect(retryDelayMs(new Error('another'))).toBeUndefined();
});
