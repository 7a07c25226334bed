/** Determines from the journal how a step ended, for the current run and an earlier one, and records it as a span. */
import { CancelledFailure } from '@temporalio/common';
import { type RunStep, type StepDone, type StepFailureDetails, childName } from '../../pipelines/run.js';
import type { ChunkedLog } from '../../platform/storage/chunked-log.js';
import {
  logLost,
  outputsUnusable,
  stepFailed,
  stepInDoubt,
  stepNotRun,
  stepTimedOut,
  type UnknownOutcomeReason,
} from './failures.js';
import { outputFile, removeStart, type Attempt } from './journal.js';
import { readStop, type ExitRecord, type StopCause } from './launcher/record.js';
import { storedLastLines } from './output/log.js';
import { EVERYTHING_MASKED, type Masking } from './output/mask.js';
import { readOutputs } from './outputs.js';
import type { RunEnd } from './follower.js';
import { formatTrace, parseCarrier, type TraceContext } from '../../operations/wire/trace-context.js';
import { spanIdOf, tracing } from '../../platform/observe/tracing/index.js';
import { endAttempt, type AttemptRecord } from '../../activities/runtime/attempt-span.js';

export interface StepEnd {
  folder: string;
  /** Undefined when the outcome is unknown. */
  exit: ExitRecord | undefined;
  /** Why it was ended, if it was. */
  cause: StopCause | undefined;
  /** Why the outcome is unknown, when there is no cause. */
  doubt: UnknownOutcomeReason;
  /** Whether it never started because its worker was killed first. */
  hasNotStarted?: boolean;
  /** Error of the log, if it ended the step. */
  lost?: unknown;
  lastLines: string[];
  masking: Masking;
}

/** The end of a run, completed from its folder and its log. */
export async function endOfRun(
  { exit, doubt, hasNotStarted, lost, lastLines }: RunEnd,
  { folder, log, masking }: { folder: string; log: ChunkedLog; masking: Masking },
): Promise<StepEnd> {
  // The step can start: this run doesn't count.
  if (hasNotStarted) await removeStart(folder);
  const cause = exit ? exit.stopped : await readStop(folder);
  return {
    folder,
    exit,
    cause,
    doubt,
    hasNotStarted,
    // A cancel or timeout may end a wait for room on a full disk, and the log with it.
    ...(cause === undefined || cause === 'log' ? { lost } : {}),
    lastLines: lastLines ?? (await storedLastLines(log, masking)),
    masking,
  };
}

/**
 * The step's result.
 *
 * @throws ApplicationFailure `StepFailed`, `StepTimedOut`, `StepInDoubt`, `StepNotRun` or `StepLogLost`; CancelledFailure if a
 *   cancel ended it
 */
export async function stepOutcome(step: RunStep, end: StepEnd): Promise<StepDone> {
  const { exit, cause } = end;
  if (cause === 'canceled') throw cancelled(step);
  if (end.hasNotStarted) throw stepNotRun(step);
  const { outputs, problem } = await maskedOutputs(end.folder, end.masking);
  const isHidden = end.masking === EVERYTHING_MASKED && Object.keys(outputs).length > 0;
  const details: StepFailureDetails = { outputs: isHidden ? {} : outputs, lastLines: end.lastLines };
  if (end.lost) throw logLost(step, end.lost, details);
  if (cause === 'timeout') throw stepTimedOut(step, details);
  if (!exit || cause) throw stepInDoubt(step, cause === 'log' || !cause ? end.doubt : cause, details);
  if (exit.exitCode !== undefined) details.exitCode = exit.exitCode;
  if (exit.signal !== undefined) details.signal = exit.signal;
  if (exit.exitCode !== 0) throw stepFailed(step, details);
  if (isHidden) throw stepInDoubt(step, 'secrets', details);
  if (problem) throw outputsUnusable(step, problem, details);
  return { exitCode: 0, outputs };
}

export function cancelled(step: RunStep): CancelledFailure {
  return new CancelledFailure(`step "${step.name}" was cancelled`);
}

async function maskedOutputs(
  folder: string,
  masking: Masking,
): Promise<{ outputs: Record<string, string>; problem?: string }> {
  const { outputs, problem } = await readOutputs(outputFile(folder), (text) => masking.text(text));
  return {
    outputs: Object.fromEntries(
      Object.entries(outputs).map(([key, value]) => [masking.text(key), masking.text(value)]),
    ),
    ...(problem === undefined ? {} : { problem: masking.text(problem) }),
  };
}

interface ReadingAttempt {
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

/** A run of a step whose outcome Temporal has. */
export interface EndedStep {
  stepId: string;
  token: string;
  step: RunStep;
  /** ISO 8601. */
  startedAt: string;
  end: StepEnd;
  /** The attempt that started it. */
  attempt: AttemptRecord;
  /** Whether that attempt reports its own end. */
  isAttended: boolean;
}

/**
 * Variables that let the step's processes continue the trace. OpenTelemetry names them like the headers, in upper case.
 *
 * @param attempt undefined if the worker records no spans: the step then continues the attempt's own parent
 */
export function traceVariables(
  trace: TraceContext | undefined,
  attempt: AttemptRecord | undefined,
  stepId: string,
): Record<string, string> {
  if (!trace) return {};
  const context = attempt ? { ...trace, spanId: stepSpanId(stepId) } : trace;
  const { traceparent, tracestate } = formatTrace(context);
  return { TRACEPARENT: traceparent, ...(tracestate === undefined ? {} : { TRACESTATE: tracestate }) };
}

/** Exports a step's span, and the span of the attempt that started it unless that attempt does so itself. */
export function endStep({ stepId, token, step, startedAt, end, attempt, isAttended }: EndedStep): void {
  const parent = parseCarrier(attempt);
  if (!parent) return;
  const failure = failureOf(end);
  const outcome = end.cause === 'canceled' ? 'canceled' : failure === undefined ? 'completed' : 'failed';
  const span = tracing()?.startSpan(`RunStep:${step.name}`, {
    parent,
    spanId: stepSpanId(stepId),
    startMs: Date.parse(startedAt),
    attributes: {
      'longhaul.token': token,
      'longhaul.job': childName(step.child),
      'longhaul.step': step.name,
      'longhaul.outcome': outcome,
      'process.exit.code': end.exit?.exitCode,
    },
  });
  if (failure !== undefined) span?.fail(failure);
  span?.end(endedMs(end));
  if (!isAttended) endAttempt(attempt, { outcome, failure }, { 'longhaul.adopted': true });
}

/** The launcher's record has whole seconds: the step ended within that second, and before now. */
function endedMs({ exit }: StepEnd): number {
  return exit ? Math.min(Date.parse(exit.endedAt) + 999, Date.now()) : Date.now();
}

function stepSpanId(stepId: string): string {
  return spanIdOf('step', stepId);
}

/** Type of the step's failure, like {@link stepOutcome}'s. */
function failureOf({ exit, cause, lost }: StepEnd): string | undefined {
  if (cause === 'canceled') return undefined;
  if (lost) return 'StepLogLost';
  if (cause === 'timeout') return 'StepTimedOut';
  if (!exit || cause) return 'StepInDoubt';
  return exit.exitCode === 0 ? undefined : 'StepFailed';
}
