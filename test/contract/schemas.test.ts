/** The published schemas of the runtime contract, held against what Longhaul's own runtime and server write. */
import { expect, test } from '@jest/globals';
import type { WorkflowFailedError } from '@temporalio/client';
import { defaultPayloadConverter, type ApplicationFailure } from '@temporalio/common';
import type { temporal as api } from '@temporalio/proto';
import { contractProblems, memoProblems, type ContractSchema } from '../../cli/conformance/fixture.js';
import { OPERATION_QUERY, START_MEMO } from '../../operations/wire/index.js';
import { PARTIAL_MEMO, publishedState, type PublishedState } from '../../operations/wire/state.js';
import { Caller } from '../operation-tools/support.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const stack = await forAllTests(TestStack.shared());
const caller = new Caller(stack.client);
const temporal = await stack.temporal();

function expectFit(schema: ContractSchema, value: unknown): void {
  expect([schema, value, contractProblems(schema, value)]).toEqual([schema, expect.anything(), []]);
}

const decode = (payloads: api.api.common.v1.IPayload[] | null | undefined) =>
  (payloads ?? []).map((payload) => defaultPayloadConverter.fromPayload<unknown>(payload));

/** The state in the memo of an operation, whose fields fit. */
async function stateOf(token: string): Promise<PublishedState> {
  const { memo } = await temporal.workflow.getHandle(token).describe();
  expectFit('start-memo', memo![START_MEMO]);
  expect([memo, memoProblems(memo)]).toEqual([memo, []]);
  return publishedState(memo) ?? {};
}

const eventsOf = async (token: string) =>
  (await temporal.workflow.getHandle(token).fetchHistory()).events ?? [];

test('heartbeats, the memo, the query and the result of an activity', async () => {
  const token = await caller.start('slow_compute', { seconds: 3 });
  const heartbeat = await eventually('a heartbeat', async () => {
    const { raw } = await temporal.workflow.getHandle(token).describe();
    return decode(raw.pendingActivities?.[0]?.heartbeatDetails?.payloads)[0];
  });
  expectFit('heartbeat-report', heartbeat);
  expectFit('state', await temporal.workflow.getHandle(token).query(OPERATION_QUERY));
  expect(await stateOf(token)).toMatchObject({ stage: 'count primes' });
  await caller.settled(token);
  const completed = (await eventsOf(token)).flatMap(({ activityTaskCompletedEventAttributes: attributes }) =>
    decode(attributes?.result?.payloads),
  );
  expect(completed).toHaveLength(1);
  expectFit('activity-result', completed[0]);
  await stateOf(token);
});

test('questions, and the answers that the server sends', async () => {
  const token = await caller.asking();
  const key = 'input-1';
  const { inputRequests, questions } = await stateOf(token);
  expect([Object.keys(inputRequests!), questions]).toEqual([[key], { count: 1, keys: [key] }]);
  expectFit('state', await temporal.workflow.getHandle(token).query(OPERATION_QUERY));
  const misfit = { key, answerId: 'misfit', answer: { action: 'accept', content: {} } };
  await temporal.workflow.getHandle(token).signal('provide_input', misfit);
  await caller.get('operation_answer', { token, content: { confirm: true } });
  await caller.settled(token);
  const answered = await stateOf(token);
  expect(answered.refusedAnswers).toMatchObject([{ key, id: 'misfit' }]);
  const { answers, questionsSince } = answered;
  expect([answers!.length, answered.inputRequests, questionsSince]).toEqual([1, {}, undefined]);
  const inputs = (await eventsOf(token)).flatMap(
    ({ workflowExecutionUpdateAcceptedEventAttributes: attributes }) =>
      decode(attributes?.acceptedRequest?.input?.args?.payloads),
  );
  expect(inputs).toHaveLength(1);
  expectFit('provided-input', inputs[0]);
});

test('a large partial result', async () => {
  const token = await caller.start('large_values', { partialBytes: 80_000, thenWaitSeconds: 60 });
  const claim = await eventually('the memo refers to it', async () => {
    return (await stateOf(token)).claims?.[PARTIAL_MEMO];
  });
  expect(claim.bytes).toBeGreaterThan(80_000);
  const whole: any = await temporal.workflow.getHandle(token).query(OPERATION_QUERY);
  expectFit('state', whole);
  expect(whole.partial.text).toHaveLength(80_000);
  await caller.get('operation_cancel', { token });
});

test('the details of a failure', async () => {
  const token = await caller.start('large_values', { partialBytes: 10, failWithBytes: 10 });
  const failure = await temporal.workflow
    .getHandle(token)
    .result()
    .catch((error: unknown) => (error as WorkflowFailedError).cause as ApplicationFailure);
  const details = (failure as ApplicationFailure).details?.[0];
  expectFit('closing-details', details);
  expect(details).toMatchObject({ longhaul: 'closing', error: { type: 'Large' } });
  expect((await stateOf(token)).partial).toEqual({ text: 'pppppppppp' });
});

test('values that do not fit are refused', () => {
  const now = '2026-01-01T00:00:00.000Z';
  const question = { message: 'Delete?', schema: { type: 'object' } };
  const misfits: [ContractSchema, unknown][] = [
    ['state-memo', { stage: 'first' }],
    ['state-memo', { stage: 1, updatedAt: now }],
    ['state-memo', { updatedAt: 'yesterday' }],
    ['state-memo', { updatedAt: now, progress: { total: 3 } }],
    ['state-memo', { updatedAt: now, progress: { progress: -1 } }],
    ['state-memo', { updatedAt: now, questions: { keys: ['a'] } }],
    ['state-memo', { updatedAt: now, cut: ['partial'] }],
    ['state-memo', { updatedAt: now, inputRequests: {} }],
    ['state-memo', { updatedAt: now, partial: 1 }],
    ['state', { inputRequests: { a: { message: 'Delete?' } } }],
    ['state', { stage: 1 }],
    ['input-memo', { a: { message: 'Delete?' } }],
    ['input-memo', [question]],
    ['details-memo', { answers: [{ key: 'a', action: 'yes', at: now }] }],
    ['details-memo', { refusedAnswers: [{ key: 'a', id: 'b', action: 'accept', at: now }] }],
    ['details-memo', { texts: { partial: 'first' } }],
    ['details-memo', { longhaul: 'stored', answers: [] }],
    ['partial-memo', { rows: 1 }],
    ['partial-memo', { value: 1, isTooLarge: true }],
    ['partial-memo', { longhaul: 'stored', key: 'a' }],
    ['start-memo', { version: 2, tool: 'a', principal: 'anonymous', searchAttributes: true, attempt: 1 }],
    ['provided-input', { key: 'a', answer: { action: 'accept', content: {} } }],
    ['provided-input', { key: 'a', answerId: 'b', answer: { action: 'accept' } }],
    ['heartbeat-report', { progress: { progress: 1 } }],
    ['activity-result', { longhaul: 'report', result: 1 }],
    ['closing-details', { longhaul: 'closing', error: { kind: 'broken', message: '', retryable: false } }],
  ];
  expect(misfits.filter(([schema, value]) => contractProblems(schema, value).length === 0)).toEqual([]);
});
