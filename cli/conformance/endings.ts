/** Level 4: partial results, failures and cancels. */
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { STATE_MEMO_LIMIT_BYTES, type ClosingDetails } from '../../operations/wire/index.js';
import { expectThat, type Fixture } from './fixture.js';

/** Length of the text in a partial result that is too large for the memo. */
const LARGE = 80_000;
const REASON = 'no longer needed';

const rowsIn = (partial: unknown) => (partial as { rows?: number } | undefined)?.rows;
const textLengthIn = (partial: unknown) => (partial as { text?: string } | undefined)?.text?.length;

export async function checkPartial(fixture: Fixture): Promise<void> {
  await fixture.start();
  await fixture.need('a small partial result is in the state memo', () =>
    fixture.state('the partial result {"rows":1}', ({ partial }) => rowsIn(partial) === 1),
  );
  await fixture.handle.signal('next');
  await fixture.need('a large one is not, and the memo says so', async () => {
    const state = await fixture.state('isPartialLarge', ({ isPartialLarge }) => isPartialLarge === true);
    const bytes = Buffer.byteLength(JSON.stringify(state));
    expectThat(bytes <= STATE_MEMO_LIMIT_BYTES, `a memo of at most ${STATE_MEMO_LIMIT_BYTES} bytes`, bytes);
  });
  await fixture.check('the query returns the whole partial result', async () => {
    const { partial } = await fixture.query();
    expectThat(rowsIn(partial) === 2 && textLengthIn(partial) === LARGE, 'all of it', partial);
  });
  await fixture.handle.signal('next');
  await fixture.check('a failure keeps the type and message of its cause', async () => {
    const failure = await applicationFailure(fixture);
    expectThat(failure.type === 'Broken', 'the type "Broken"', failure.type);
    expectThat(failure.message === 'nothing left', 'the message "nothing left"', failure.message);
  });
  await fixture.check("a failure's details have the error and the partial result", async () => {
    const details = (await applicationFailure(fixture)).details?.[0];
    fixture.fits('closing-details', details);
    const { error, partial } = details as ClosingDetails;
    const isExpected = error?.type === 'Broken' && error.message === 'nothing left';
    expectThat(isExpected, 'the error Broken, "nothing left"', error);
    expectThat(rowsIn(partial) === 2 && textLengthIn(partial) === LARGE, 'the partial result', partial);
  });
}

export async function checkCancel(fixture: Fixture): Promise<void> {
  await fixture.start();
  await fixture.need('the workflow works', async () => {
    await fixture.state('the partial result {"rows":1}', ({ partial }) => rowsIn(partial) === 1);
    await fixture.heartbeat();
  });
  await fixture.need('it ends as canceled, though its code returned a result', async () => {
    await requestCancel(fixture);
    const failure = await fixture.failure();
    expectThat(failure.name === 'CancelledFailure', 'a canceled workflow', failure.name);
  });
  await fixture.check('the state memo keeps stage and partial result', async () => {
    const { state } = await fixture.describe();
    expectThat(rowsIn(state?.partial) === 1, 'the partial result {"rows":1}', state?.partial);
    expectThat(state?.stage === 'waiting', 'the stage "waiting"', state?.stage);
  });
  await fixture.check('a reason in the state memo is that of the request', async () => {
    const { cancelReason = REASON } = (await fixture.describe()).state ?? {};
    expectThat(cancelReason === REASON, `"${REASON}", or none`, cancelReason);
  });
}

async function applicationFailure(fixture: Fixture): Promise<ApplicationFailure> {
  const failure = await fixture.failure();
  expectThat(failure instanceof ApplicationFailure, 'an application failure', failure.name);
  return failure;
}

/** Gives a reason like the server, which the SDK's client can't send. */
async function requestCancel({ handle }: Fixture): Promise<void> {
  const { client, workflowId } = handle;
  await client.workflowService.requestCancelWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    requestId: randomUUID(),
    reason: REASON,
  });
}
