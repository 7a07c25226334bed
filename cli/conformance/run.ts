/** Runs the fixture workflows of a worker that implements the runtime contract, and checks what they publish. */
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { Fixture, FixtureStopped, type CheckResult, type ConformanceOptions, expectThat } from './fixture.js';
import { checkContinue, checkQuestion } from './questions.js';
import { PROGRESS_METADATA, type ClosingDetails } from '../../operations/wire/index.js';
import {
  CUT_MARK,
  DETAILS_MEMO,
  PARTIAL_MEMO,
  STATE_MEMO,
  type PublishedState,
} from '../../operations/wire/state.js';
import type { Progress } from '../../operations/record.js';

const FIXTURES: [name: string, level: number, check: (fixture: Fixture) => Promise<void>][] = [
  ['ContractHeartbeat', 1, checkHeartbeat],
  ['ContractProgress', 2, checkProgress],
  ['ContractQuestion', 3, checkQuestion],
  ['ContractContinue', 3, checkContinue],
  ['ContractPartial', 4, checkPartial],
  ['ContractCancel', 4, checkCancel],
];

/** Runs all fixtures up to a level concurrently. */
export async function runConformance(options: ConformanceOptions, level: number): Promise<CheckResult[]> {
  const selected = FIXTURES.filter(([, least]) => least <= level);
  const results = await Promise.all(
    selected.map(async ([name, least, check]) => {
      const fixture = new Fixture(name, least, options);
      try {
        await check(fixture);
      } catch (error) {
        if (!(error instanceof FixtureStopped)) throw error;
      } finally {
        await fixture.finish();
        await fixture.end();
      }
      return fixture.results;
    }),
  );
  return results.flat();
}

async function checkHeartbeat(fixture: Fixture): Promise<void> {
  await fixture.start();
  await fixture.need('an activity reports its progress in heartbeats', async () => {
    const details = await fixture.heartbeat();
    fixture.fits('heartbeat-report', details);
    const { progress } = details as { progress?: Progress };
    const isExpected = progress?.progress === 4 && progress.total === 10 && progress.message === 'four';
    expectThat(isExpected, 'progress 4 of 10, "four"', progress);
  });
  await fixture.check('it ends as canceled after a cancel', async () => {
    await fixture.handle.cancel();
    const failure = await fixture.failure();
    expectThat(failure.name === 'CancelledFailure', 'a canceled workflow', failure.name);
  });
}

async function checkProgress(fixture: Fixture): Promise<void> {
  await fixture.start();
  const first = await fixture.need('stage and progress are in the memo', async () => {
    const state = await fixture.state('the stage "first"', ({ stage }) => stage === 'first');
    const { progress } = state;
    const isExpected = progress?.progress === 1 && progress.total === 3 && progress.message === 'one';
    expectThat(isExpected, 'progress 1 of 3, "one"', progress);
    return state;
  });
  await fixture.check('the query returns the state', async () => {
    const state = await fixture.query();
    fixture.fits('state', state);
    const isSame = state.stage === first.stage && state.progress?.progress === first.progress?.progress;
    expectThat(isSame, 'stage and progress as in the memo', state);
  });
  await fixture.handle.signal('next');
  await fixture.need("an ended activity's last report is added to the workflow's own progress", async () => {
    const { progress, updatedAt } = await fixture.state(
      'the stage "second" with progress 2',
      ({ stage, progress }) => stage === 'second' && progress?.progress === 2,
    );
    expectThat(progress?.total === 3, "the workflow's own total, 3", progress);
    expectThat(updatedAt! >= first.updatedAt!, `a time after ${first.updatedAt}`, updatedAt);
  });
  await fixture.check("the activity's result in history fits activity-result.json", async () => {
    const completed = (await fixture.events()).flatMap(
      ({ activityTaskCompletedEventAttributes: attributes }) => attributes ?? [],
    );
    const [result] = await fixture.decode(completed[0]?.result?.payloads);
    fixture.fits('activity-result', result);
  });
  await fixture.handle.signal('next');
  await fixture.check("the workflow's code gets the activity's result as it was returned", async () => {
    const result = (await fixture.handle.result()) as { value?: unknown };
    expectThat(result?.value === 42, '{"value": 42}', result);
  });
  await fixture.check('progress never decreases', async () => {
    const progress = await finalProgress(fixture);
    expectThat(progress?.progress === 2, 'progress 2 at the end, though the code set 0', progress);
  });
  await fixture.check('a long text is cut in the memo, and kept whole', async () => {
    const { state } = await fixture.describe();
    const { stage, cut = [], texts, claims } = state ?? {};
    expectThat(stage?.endsWith(CUT_MARK) && cut.includes('stage'), 'a cut stage, named in "cut"', state);
    expectThat(claims?.[DETAILS_MEMO] ?? texts?.stage === LONG_STAGE, 'the whole text in "texts"', texts);
    const whole = (await fixture.query()).stage;
    expectThat(whole === LONG_STAGE, 'the whole stage in the query', whole);
  });
  await fixture.check('a workflow task writes the memo at most once', async () => {
    const tasks = (await fixture.memoWrites()).map(({ task }) => task);
    expectThat(new Set(tasks).size === tasks.length, 'one memo event for each workflow task', tasks);
  });
}

/** Progress of a completed workflow, in the metadata of its result or in the memo. */
async function finalProgress(fixture: Fixture): Promise<Progress | undefined> {
  const last = (await fixture.events()).at(-1)?.workflowExecutionCompletedEventAttributes;
  const metadata = last?.result?.payloads?.[0]?.metadata?.[PROGRESS_METADATA];
  if (metadata) return JSON.parse(Buffer.from(metadata).toString()) as Progress;
  return (await fixture.describe()).state?.progress;
}

const LONG_STAGE = 'x'.repeat(3_000);
/** Length of the text in a partial result that fits the memo of every worker, and in one that doesn't. */
const SMALL = 8_000;
const LARGE = 80_000;
const REASON = 'no longer needed';

const rowsIn = (partial: unknown) => (partial as { rows?: number } | undefined)?.rows;
const textLengthIn = (partial: unknown) => (partial as { text?: string } | undefined)?.text?.length;

/** Whether the memo refers to a partial result in Longhaul's storage that has more bytes than these. */
const isStored = ({ claims }: PublishedState, bytes: number) => (claims?.[PARTIAL_MEMO]?.bytes ?? 0) > bytes;

async function checkPartial(fixture: Fixture): Promise<void> {
  await fixture.start();
  await fixture.need(`a partial result of 8 KB is in the memo ${PARTIAL_MEMO}`, () =>
    fixture.state(
      `the partial result with ${SMALL} characters`,
      (state) => textLengthIn(state.partial) === SMALL || isStored(state, SMALL),
    ),
  );
  await fixture.handle.signal('next');
  await fixture.check(`an activity that ends rewrites only the memo ${STATE_MEMO}`, async () => {
    await fixture.state('progress 1', ({ progress }) => progress?.progress === 1);
    const fields = (await fixture.memoWrites()).at(-1)?.fields ?? [];
    expectThat(fields.join() === STATE_MEMO, `one written field, ${STATE_MEMO}`, fields);
  });
  await fixture.handle.signal('next');
  await fixture.need('a large one is not, and the memo says so', () =>
    fixture.state('isTooLarge', (state) => state.isPartialLarge === true || isStored(state, LARGE)),
  );
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
    const { state = {} } = await fixture.describe();
    const isExpected = error?.type === 'Broken' && error.message === 'nothing left';
    expectThat(isExpected, 'the error Broken, "nothing left"', error);
    const isWhole = rowsIn(partial) === 2 && textLengthIn(partial) === LARGE;
    expectThat(isWhole || isStored(state, LARGE), 'the partial result', partial);
  });
}

async function checkCancel(fixture: Fixture): Promise<void> {
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
  await fixture.check('the memo keeps stage and partial result', async () => {
    const { state } = await fixture.describe();
    expectThat(rowsIn(state?.partial) === 1, 'the partial result {"rows":1}', state?.partial);
    expectThat(state?.stage === 'waiting', 'the stage "waiting"', state?.stage);
  });
  await fixture.check('a reason in the memo is that of the request', async () => {
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
