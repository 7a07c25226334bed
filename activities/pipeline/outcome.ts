/** Determines how a step ended, from its launcher's record: for the current run and for an earlier one. */
import { childName, type RunStep, type StepDone, type StepFailureDetails } from '../../pipelines/run.js';
import { logKey } from '../../platform/storage-keys.js';
import type { Storage } from '../../platform/storage.js';
import {
  logLost,
  outputsUnusable,
  stepFailed,
  stepInDoubt,
  stepTimedOut,
  type UnknownOutcomeReason,
} from './failures.js';
import { awaitEnd, outputFile, readStop, type Attempt, type StopCause } from './journal.js';
import type { ExitRecord } from './launcher-record.js';
import { storedLastLines } from './log.js';
import type { Masking } from './mask.js';
import { readOutputs } from './outputs.js';

/** The facts about the end of a run. */
export interface StepEnd {
  /** Folder of the run. */
  folder: string;
  /** Undefined when the outcome is unknown. */
  exit: ExitRecord | undefined;
  /** Why its worker ended it, if it did. */
  cause: StopCause | undefined;
  /** Why the outcome is unknown, when there is no cause. */
  doubt: UnknownOutcomeReason;
  /** Error of the log, if the step was ended because its log couldn't be written. */
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
  const details: StepFailureDetails = { outputs, lastLines: end.lastLines };
  if (end.lost) throw logLost(step, end.lost, details);
  if (!exit || exit.stopped) {
    if (cause === 'timeout') throw stepTimedOut(step, details);
    throw stepInDoubt(step, unknownOutcomeReason(cause) ?? end.doubt, details);
  }
  if (exit.exitCode !== undefined) details.exitCode = exit.exitCode;
  if (exit.signal !== undefined) details.signal = exit.signal;
  if (exit.exitCode !== 0) throw stepFailed(step, details);
  if (problem) throw outputsUnusable(step, problem, details);
  return { exitCode: 0, outputs };
}

/** Whether a cancel ended it, and not the step itself. */
export function isCanceled({ cause, exit }: Pick<StepEnd, 'cause' | 'exit'>): boolean {
  return cause === 'canceled' && exit?.stopped !== false;
}

/** Why a stopped step's outcome is unknown; undefined if the stop is an outcome. */
export function unknownOutcomeReason(cause: StopCause | undefined): UnknownOutcomeReason | undefined {
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

/** Storage and names for reading an outcome from the journal. */
export interface JournalContext {
  storage: Storage;
  /** The operation's workflow ID. */
  operationId: string;
  masking: Masking;
}

/** The Temporal attempt that reads the journal. */
export interface CurrentAttempt extends JournalContext {
  /** Run ID of the activity's workflow. */
  runId: string;
  attempt: number;
}

/**
 * Reads the journal of a step that is about to be run. Waits until no process of its latest run is left. Only runs of this
 * workflow run count: after a reset, a step that is scheduled is to run again.
 *
 * @param attempts all runs of the step
 * @returns its result if it has completed; undefined if it has to run
 * @throws ApplicationFailure `StepInDoubt`, or the failure that an earlier worker couldn't report
 */
export async function earlierResult(
  step: RunStep,
  attempts: readonly Attempt[],
  asking: CurrentAttempt,
): Promise<StepDone | undefined> {
  const own = attempts.filter(({ start }) => start.runId === asking.runId);
  // The answer that accepts it may be older than a reset.
  if (step.isTakenAsDone) return resultTakenAsDone(own.at(-1) ?? lastStarted(attempts), asking.masking);
  const latest = own.findLast(({ round }) => round === step.round);
  if (!latest) return undefined;
  const end = await previousOutcome(step, latest, asking);
  // A failure of this or a later Temporal attempt has not been reported yet.
  const isReported = asking.attempt > latest.start.attempt;
  if (isReported && end.exit && !end.exit.stopped && end.exit.exitCode !== 0) return undefined;
  return stepOutcome(step, end);
}

/** How an earlier run ended, once none of its processes is left. */
export async function previousOutcome(
  step: RunStep,
  attempt: Attempt,
  { storage, operationId, masking }: JournalContext,
): Promise<StepEnd> {
  const exit = await awaitEnd(attempt);
  const key = logKey(operationId, childName(step.child), step.step);
  return {
    folder: attempt.folder,
    exit,
    cause: await readStop(attempt.folder),
    doubt: 'worker',
    lastLines: await storedLastLines(storage, key, masking),
    masking,
  };
}

/** The run that was started last. Rounds are counted from 1 again after a reset. */
function lastStarted(attempts: readonly Attempt[]): Attempt | undefined {
  const startedAt = ({ start }: Attempt) => Date.parse(start.startedAt);
  return [...attempts].sort((one, other) => startedAt(one) - startedAt(other)).at(-1);
}

/** Result of a step that a person has accepted as done: the outputs of its latest run, as far as they are readable. */
async function resultTakenAsDone(latest: Attempt | undefined, masking: Masking): Promise<StepDone> {
  if (!latest) return { exitCode: 0, outputs: {} };
  await awaitEnd(latest);
  const { outputs } = await maskedOutputs(latest.folder, masking);
  return { exitCode: 0, outputs };
}
