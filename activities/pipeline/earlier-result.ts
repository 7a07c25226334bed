/** The journal's answer for a step that is about to run. */
import type { RunStep, StepDone } from '../../pipelines/run.js';
import type { Attempt } from './journal.js';
import { maskedOutputs, stepOutcome, type StepEnd } from './outcome.js';

export interface ReadingAttempt {
  /** Run ID of the activity's workflow. */
  runId: string;
  attempt: number;
  endOf: (run: Attempt) => Promise<StepEnd>;
}

/**
 * Reads the journal of a step that is about to run, and waits for the end of its latest run. Only runs of this workflow run
 * count: a step scheduled after a reset has to run again.
 *
 * @param attempts all runs of the step
 * @returns its result if it has completed; undefined if it has to run
 * @throws ApplicationFailure `StepInDoubt`, or the failure that an earlier worker couldn't report; errors of `endOf`
 */
export async function earlierResult(
  step: RunStep,
  attempts: readonly Attempt[],
  { runId, attempt, endOf }: ReadingAttempt,
): Promise<StepDone | undefined> {
  const own = attempts.filter(({ start }) => start.runId === runId);
  // The answer that accepts the step may be older than a reset.
  if (step.isTakenAsDone) return resultTakenAsDone(own.at(-1) ?? lastStarted(attempts), endOf);
  const latest = own.findLast(({ round }) => round === step.round);
  if (!latest) return undefined;
  const end = await endOf(latest);
  // A failure of this or a later Temporal attempt hasn't been reported yet.
  const isReported = attempt > latest.start.attempt;
  if (isReported && end.exit && !end.cause && end.exit.exitCode !== 0) return undefined;
  return stepOutcome(step, end);
}

/** The run that started last. After a reset, rounds count from 1 again. */
function lastStarted(attempts: readonly Attempt[]): Attempt | undefined {
  const startedAt = ({ start }: Attempt) => Date.parse(start.startedAt);
  return [...attempts].sort((one, other) => startedAt(one) - startedAt(other)).at(-1);
}

/** Result of a step that a person has accepted as done: the readable outputs of its latest run. */
async function resultTakenAsDone(
  latest: Attempt | undefined,
  endOf: ReadingAttempt['endOf'],
): Promise<StepDone> {
  if (!latest) return { exitCode: 0, outputs: {} };
  const { folder, masking } = await endOf(latest);
  const { outputs } = await maskedOutputs(folder, masking);
  return { exitCode: 0, outputs };
}
