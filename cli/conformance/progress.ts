/** Levels 1 and 2: heartbeats; stage and progress. */
import { PROGRESS_METADATA } from '../../operations/wire/index.js';
import type { Progress } from '../../operations/record.js';
import { expectThat, type Fixture } from './fixture.js';

export async function checkHeartbeat(fixture: Fixture): Promise<void> {
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

export async function checkProgress(fixture: Fixture): Promise<void> {
  await fixture.start();
  const first = await fixture.need('stage and progress are in the state memo', async () => {
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
  await fixture.check('a workflow task writes the memo at most once', async () => {
    const tasks = (await fixture.events()).flatMap(
      ({ workflowPropertiesModifiedEventAttributes: modified }) =>
        modified ? String(modified.workflowTaskCompletedEventId) : [],
    );
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
