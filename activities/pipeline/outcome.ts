/** Saying how a step ended: from what its launcher wrote, for the run of just now as for an earlier one. */
import { childName, type RunStep, type StepDone, type StepFailureDetails } from '../../pipelines/run.js';
import { logKey } from '../../platform/storage-keys.js';
import type { Storage } from '../../platform/storage.js';
import { logLost, outputsUnusable, stepFailed, stepInDoubt, stepTimedOut, type Doubt } from './failures.js';
import { awaitEnd, outputFile, readStop, type Attempt, type StopCause } from './journal.js';
import type { ExitRecord } from './launcher-record.js';
import { storedLastLines } from './log.js';
import type { Masking } from './mask.js';
import { readOutputs } from './outputs.js';

/** An end that can be judged. */
export interface StepEnd {
  /** Folder of the run. */
  folder: string;
  /** Undefined when nobody knows. */
  exit: ExitRecord | undefined;
  /** Why its worker ended it, if it did. */
  cause: StopCause | undefined;
  /** Why nobody knows, when there is no cause. */
  doubt: Doubt;
  /** Why its log couldn't be written, which is why it was ended. */
  lost?: unknown;
  lastLines: string[];
  masking: Masking;
}

/**
 * The step's result.
 *
 * @throws ApplicationFailure `StepFailed`, `StepTimedOut`, `StepInDoubt` or `StepLogLost`
 */
export async function stepOutcome(step: RunStep, end: StepEnd): Promise<StepDone> {
  const { exit, cause } = end;
  const { outputs, problem } = await maskedOutputs(end.folder, end.masking);
  const trouble: StepFailureDetails = { outputs, lastLines: end.lastLines };
  if (end.lost) throw logLost(step, end.lost, trouble);
  if (!exit || exit.stopped) {
    if (cause === 'timeout') throw stepTimedOut(step, trouble);
    throw stepInDoubt(step, doubtOf(cause) ?? end.doubt, trouble);
  }
  if (exit.exitCode !== undefined) trouble.exitCode = exit.exitCode;
  if (exit.signal !== undefined) trouble.signal = exit.signal;
  if (exit.exitCode !== 0) throw stepFailed(step, trouble);
  if (problem) throw outputsUnusable(step, problem, trouble);
  return { exitCode: 0, outputs };
}

/** Did a cancel end it, and not the step itself? */
export function isCanceled({ cause, exit }: Pick<StepEnd, 'cause' | 'exit'>): boolean {
  return cause === 'canceled' && exit?.stopped !== false;
}

/** What a stop means for who has to decide about the step. */
export function doubtOf(cause: StopCause | undefined): Doubt | undefined {
  return cause === 'shutdown' || cause === 'contact' || cause === 'given_up' ? cause : undefined;
}

async function maskedOutputs(
  folder: string,
  masking: Masking,
): Promise<{ outputs: Record<string, string>; problem?: string }> {
  const { outputs, problem } = await readOutputs(outputFile(folder));
  return {
    outputs: Object.fromEntries(
      Object.entries(outputs).map(([key, value]) => [masking.text(key), masking.text(value)]),
    ),
    ...(problem === undefined ? {} : { problem: masking.text(problem) }),
  };
}

/** The Temporal attempt that asks, and what it may read. */
export interface Asking {
  storage: Storage;
  workflowId: string;
  runId: string;
  attempt: number;
  masking: Masking;
}

/**
 * What the journal says of a step that is about to be run. Waits until nothing runs any more of its latest run.
 *
 * @param attempts all runs of the step
 * @returns its result, when it has done its work; undefined when it is to be run
 * @throws ApplicationFailure `StepInDoubt`, or the failure that a worker couldn't report any more
 */
export async function earlierResult(
  step: RunStep,
  attempts: readonly Attempt[],
  asking: Asking,
): Promise<StepDone | undefined> {
  if (step.isTakenAsDone) return takenAsDone(attempts, asking.masking);
  const latest = attempts.findLast(({ round }) => round === step.round);
  if (!latest) return undefined;
  const end = await previousOutcome(step, latest, asking);
  const { start } = latest;
  // A failure that isn't later than the attempt that asks is one that nobody has heard of yet.
  const isReported = start.runId !== asking.runId || asking.attempt > start.attempt;
  if (isReported && end.exit && !end.exit.stopped && end.exit.exitCode !== 0) return undefined;
  return stepOutcome(step, end);
}

/** How an earlier run ended, once nothing of it runs any more. */
export async function previousOutcome(
  step: RunStep,
  attempt: Attempt,
  { storage, workflowId, masking }: Asking,
): Promise<StepEnd> {
  const exit = await awaitEnd(attempt);
  const key = logKey(workflowId, childName(step.child), step.step);
  return {
    folder: attempt.folder,
    exit,
    cause: await readStop(attempt.folder),
    doubt: 'worker',
    lastLines: await storedLastLines(storage, key, masking),
    masking,
  };
}

/** What the latest run had written, as far as it is readable: a person says that it is enough. */
async function takenAsDone(attempts: readonly Attempt[], masking: Masking): Promise<StepDone> {
  const latest = attempts.at(-1);
  if (!latest) return { exitCode: 0, outputs: {} };
  await awaitEnd(latest);
  const { outputs } = await maskedOutputs(latest.folder, masking);
  return { exitCode: 0, outputs };
}
