/** A Temporal that lacks calls which Longhaul uses: each is named once, and everything else works. */
import { expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { TestStack } from '../support/test-stack.js';

const LACKING = [
  'CountWorkflowExecutions',
  'DeleteWorkflowExecution',
  'PollWorkflowExecutionUpdate',
  'UpdateWorkflowExecution',
];

const proxy = await forAllTests(
  TemporalProxy.start(({ service, method }) =>
    LACKING.includes(method)
      ? { code: 12, message: `unknown method ${method} for service ${service}` }
      : undefined,
  ),
);
// Own server: a proxy refuses calls that an old Temporal lacks.
const stack = await forAllTests(TestStack.serverOnSharedWorker({ TEMPORAL_ADDRESS: proxy.address }));

/** Refusal of a call of a tool. */
async function refusal(name: string, args: object): Promise<{ text: string; error: unknown }> {
  const { result } = await stack.client.call(name, args);
  return { text: result.content[0].text, error: result._meta['longhaul/error'] };
}

/** Number of log lines of the server that name a method as missing. */
function timesNamed(method: string): number {
  return stack.parts
    .flatMap((part) => part.output().split('\n'))
    .filter((line) => line.includes('this Temporal is too old') && line.includes(`unknown method ${method} `))
    .length;
}

test('answers are accepted without updates', async () => {
  const { client } = stack;
  for (const filename of ['a.txt', 'b.txt']) {
    const taskId = await client.start('confirm_delete', { filename });
    const { result } = await client.accept(taskId, { confirm: true });
    expect(result).toMatchObject({ resultType: 'complete' });
    expect((await client.until(taskId, 'completed')).result.structuredContent).toMatchObject({
      deleted: [filename],
    });
  }
  expect(timesNamed('UpdateWorkflowExecution')).toBe(1);
});

test('a call that it lacks is refused for good, with its name and the oldest version that has it', async () => {
  const { client } = stack;
  const taskId = await client.start('slow_compute', { seconds: 0 });
  await client.until(taskId, 'completed');
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const { text, error } = await refusal('operation_delete', { token: taskId });
    expect(text).toMatch(/too old: .*DeleteWorkflowExecution.* needs server 1\.29\.0 or newer/);
    expect(error).toMatchObject({ kind: 'unavailable', retryable: false });
  }
  expect(timesNamed('DeleteWorkflowExecution')).toBe(1);
});

test('lists are refused where it cannot count', async () => {
  const { text, error } = await refusal('operation_list', {});
  expect(text).toContain("lists don't work");
  expect(error).toMatchObject({ kind: 'unavailable', retryable: false });
  await eventually('the log names it', () => timesNamed('CountWorkflowExecutions') > 0);
  expect(timesNamed('CountWorkflowExecutions')).toBe(1);
});
