/** Failures of steps and of their environment, with messages for people. */
import { ApplicationFailure } from '@temporalio/common';
import {
  childName,
  STEP_FAILED,
  STEP_IN_DOUBT,
  STEP_NOT_RUN,
  STEP_TIMED_OUT,
  type RunStep,
  type StepFailureDetails,
} from '../../pipelines/run.js';
import type { StopCause } from './launcher/record.js';

/** Failure types about a step's environment. They aren't retried. */
export const STEP_NOT_STARTED = 'StepNotStarted';
export const STEP_LOG_LOST = 'StepLogLost';
export const WORKSPACE_MISSING = 'WorkspaceMissing';
export const SECRET_UNUSABLE = 'SecretUnusable';
export const ARTIFACT_MISSING = 'ArtifactMissing';

export type UnknownOutcomeReason =
  'worker' | 'launcher' | 'host' | 'secrets' | Exclude<StopCause, 'canceled' | 'timeout' | 'log'>;

const UNKNOWN_OUTCOME_REASONS: Record<UnknownOutcomeReason, string> = {
  worker: 'its worker went away while it ran',
  launcher: 'the process that watched over it was killed',
  host: 'its host was restarted while it ran',
  secrets: "its secrets have changed since it started, so that its outputs can't be masked",
  down: 'the stack was stopped while it ran, which ended it',
  closed: 'its workflow run ended while it ran, which ended it',
  outside: 'a signal from outside, as of a service manager, ended it',
};

/** An exit code other than 0. Temporal retries according to the step's `retry`. */
export function stepFailed(step: RunStep, details: StepFailureDetails): ApplicationFailure {
  return ApplicationFailure.retryable(
    `step "${step.name}" failed with ${describeExit(details)}${missingFile(step, details)}`,
    STEP_FAILED,
    details,
  );
}

function failureOf(
  { name }: RunStep,
  text: string,
  type: string,
  ...details: StepFailureDetails[]
): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`step "${name}"${text}`, type, ...details);
}

/** The step ended with exit code 0, but its $LONGHAUL_OUTPUT can't be used. */
export function outputsUnusable(step: RunStep, problem: string, details: StepFailureDetails) {
  return failureOf(step, `: ${problem}`, STEP_FAILED, details);
}

export function stepTimedOut(step: RunStep, details: StepFailureDetails): ApplicationFailure {
  const limit = step.timeoutMinutes === undefined ? '' : ` of ${step.timeoutMinutes} min`;
  const text = ` was ended: it took longer than its timeout-minutes${limit}`;
  return failureOf(step, text, STEP_TIMED_OUT, details);
}

export const KILLED_FIRST = 'its worker was killed first';

/** The workflow runs the step again automatically. @param step undefined if only its activity is known */
export function stepNotRun(
  step: Pick<RunStep, 'name'> | undefined,
  why = 'its worker stopped first',
): ApplicationFailure {
  const name = step ? ` "${step.name}"` : '';
  return ApplicationFailure.nonRetryable(`step${name} was not started: ${why}`, STEP_NOT_RUN);
}

export function stepInDoubt(step: RunStep, doubt: UnknownOutcomeReason, details: StepFailureDetails) {
  return failureOf(step, ` is in doubt: ${UNKNOWN_OUTCOME_REASONS[doubt]}`, STEP_IN_DOUBT, details);
}

/** The log couldn't be written, so the step was ended: no step runs unlogged. */
export function logLost(step: RunStep, error: unknown, details: StepFailureDetails): ApplicationFailure {
  const text = ` was ended: its log can't be written: ${describeSystemError(error)}`;
  return failureOf(step, text, STEP_LOG_LOST, details);
}

/** The step lacks something; `problem` says what, and how to fix it. */
export function notStarted(step: RunStep, problem: string): ApplicationFailure {
  return failureOf(step, ` couldn't be started: ${problem}`, STEP_NOT_STARTED);
}

/** The host has no workspace for the step: its home was emptied, or belongs to another host. */
export function workspaceMissing(step: RunStep, host: string): ApplicationFailure {
  const job = childName(step.child);
  const text = ` couldn't be started: host ${host} has no workspace of ${job} any more; resume the operation to run the job from its start`;
  return failureOf(step, text, WORKSPACE_MISSING);
}

export function describeSystemError(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC') return 'the disk is full (ENOSPC)';
  if (code === 'E2BIG')
    return 'its environment is too large: a variable takes 128 KiB at most; write large values to files';
  if (code === 'EDQUOT') return 'the disk quota is used up (EDQUOT)';
  return message;
}

const HINTS: Record<number, string> = {
  126: ': a command could not be run',
  127: ': a command was not found',
  137: ': SIGKILL, often for lack of memory',
  139: ': SIGSEGV',
  141: ': SIGPIPE, from a command whose reader ended first, as in `yes | head -1`: pipefail counts it',
  143: ': SIGTERM',
};

/** Scripts that start a file of the project as if they ran in its folder. */
function missingFile({ run }: RunStep, { lastLines }: StepFailureDetails): string {
  const isMissing = lastLines.some((line) => /No such file|Cannot find module|can't open/i.test(line));
  if (!isMissing || run.includes('LONGHAUL_PROJECT')) return '';
  return '; scripts run in a workspace that is empty at first, and the files of the project are in $LONGHAUL_PROJECT';
}

function describeExit({ exitCode, signal }: StepFailureDetails): string {
  if (exitCode === undefined) return signal ? `signal ${signal}` : 'no exit code';
  return `exit code ${exitCode}${HINTS[exitCode] ?? ''}`;
}
