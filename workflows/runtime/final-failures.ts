/**
 * The end of an operation's workflow: cancel requests, cleanups within their budget, and failures whose details hold the error.
 */
import {
  ApplicationFailure,
  CancelledFailure,
  TemporalFailure,
  CancellationScope,
  patched,
  sleep,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { humanDuration, divideCleanup } from '../../operations/tool/budgets.js';
import { shortened } from '../../operations/json/counted.js';
import { defined } from '../../operations/json/defined.js';
import { isRetryable, type ErrorKind, type OperationError } from '../../operations/errors.js';
import { lossIn } from '../../operations/json/lossless.js';
import { thrownText } from '../../operations/thrown.js';
import { INVALID_OUTPUT } from '../../operations/tool/output.js';
import { cutText } from '../../operations/wire/state.js';
import { QUEUE_FULL, QUEUE_TIMEOUT } from '../../operations/wire/queue-wire.js';
import type { ClosingDetails } from '../../operations/wire/index.js';
import { log } from './log.js';
import { changeState, startMemo, cleanups, operation, type Cleanup } from './state.js';

/** Maximum size of a cleanup's failure in the state memo. */
const CLEANUP_BYTES = 200;

/** Maximum length of a failure's message, in characters: Temporal refuses large failures. */
const MESSAGE_LIMIT = 16_000;

/** Error kinds of failure types. All others have failed. */
const KINDS: Partial<Record<string, ErrorKind>> = {
  [QUEUE_FULL]: 'busy',
  [QUEUE_TIMEOUT]: 'busy',
  [INVALID_OUTPUT]: 'invalid_output',
};

/** Whether this error ends the workflow. Any other error fails the workflow task, which Temporal retries. */
export function isFinalFailure(error: unknown): error is TemporalFailure {
  return error instanceof TemporalFailure;
}

export function canceledFailure(): CancelledFailure {
  return new CancelledFailure('canceled');
}

export function timedOutFailure(): ApplicationFailure {
  const message = `the work took longer than its maximum of ${humanDuration(startMemo()?.deadlineSeconds ?? 0)}`;
  return ApplicationFailure.create({
    message,
    type: 'longhaul.timed_out',
    nonRetryable: true,
    details: [closingDetails({ kind: 'timed_out', message, retryable: false })],
  });
}

/** Failure with the type, message and code of its root cause, because Temporal wraps failures of activities. */
export function failureWithDetails(failure: unknown): ApplicationFailure {
  let root = failure as TemporalFailure;
  while (!(root instanceof ApplicationFailure) && root.cause instanceof TemporalFailure) root = root.cause;
  const type = root instanceof ApplicationFailure ? (root.type ?? undefined) : root.name;
  const isProtocol = type === 'longhaul.protocol';
  const code = isProtocol
    ? ((root as ApplicationFailure).details?.[0] as { code?: number } | undefined)?.code
    : undefined;
  const cause = root.cause && shortened(root.cause.message, MESSAGE_LIMIT);
  const whole =
    root instanceof WorkflowExecutionAlreadyStartedError
      ? `a workflow with the ID "${root.workflowId}" has been started already: give each child an ID of its own`
      : root.message;
  const message = shortened(whole, MESSAGE_LIMIT);
  const kind = isProtocol ? 'protocol' : (KINDS[type ?? ''] ?? 'failed');
  const error = {
    kind,
    message,
    retryable: isRetryable(kind),
    ...defined({ type, code, cause }),
  } as const;
  return ApplicationFailure.create({
    message,
    type: type ?? 'failed',
    nonRetryable: true,
    details: [closingDetails(error)],
    ...(failure instanceof Error && isShort(failure) && !losesDetails(failure) ? { cause: failure } : {}),
  });
}

function isShort(failure: Error): boolean {
  for (let at: unknown = failure; at instanceof Error; at = at.cause)
    if (at.message.length > MESSAGE_LIMIT) return false;
  return true;
}

/** Whether JSON refuses details of a failure, which would then never reach Temporal. */
export function losesDetails(failure: unknown): boolean {
  for (let at = failure; at instanceof Error; at = at.cause)
    if (at instanceof ApplicationFailure && lossIn(at.details, '') !== undefined) return true;
  return false;
}

/** The partial result is in the memo, or in storage. */
function closingDetails(error: OperationError): ClosingDetails {
  return { longhaul: 'closing', error };
}

/** Runs all cleanups side by side, within their budget. */
export async function runCleanups(reason: Parameters<Cleanup>[0]): Promise<void> {
  const started = cleanups.reverse();
  const { cleanupSeconds } = operation();
  if (started.length === 0) return;
  const scope = new CancellationScope();
  const ended = scope.run(() => Promise.all(started.map((work) => runCleanup(work, reason))));
  await Promise.race([ended, limit(scope, cleanupSeconds)]);
}

/** The timer isn't cancelled when the cleanups have ended, because the workflow closes then. */
async function limit(scope: CancellationScope, cleanupSeconds: number): Promise<void> {
  const { stopMs, cleanupMs } = divideCleanup(cleanupSeconds);
  await sleep(cleanupMs, { summary: 'time for cleanups' });
  scope.cancel();
  await sleep(stopMs);
}

/** A failed cleanup must not prevent the others, or the operation's end. It stands beside what ended the operation. */
async function runCleanup(work: Cleanup, reason: Parameters<Cleanup>[0]): Promise<void> {
  try {
    await work(reason);
  } catch (error) {
    log.error('a cleanup failed', { error });
    // Releases before wrote no memo here.
    if (patched('longhaul.cleanup_failure'))
      changeState({ cleanupFailure: cutText(textOf(error), CLEANUP_BYTES) });
  }
}

/** The activity's or child's own failure, if Temporal wraps it. */
function textOf(error: unknown): string {
  const { message, stack } = rootOf(toError(error));
  return thrownText({ message, stack });
}

function rootOf(failure: Error): Error {
  return failure instanceof TemporalFailure && failure.cause instanceof Error
    ? rootOf(failure.cause)
    : failure;
}

/** The SDK ignores `throw undefined`, and the workflow would wait forever. Other realms' errors are no instances of `Error`. */
export function toError(thrown: unknown): Error {
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) return thrown as Error;
  return new Error(`${jsonOf(thrown)}, which is no Error`);
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

type Activate = NonNullable<NonNullable<WorkflowInterceptors['internals']>[number]['activate']>;

let hasCome = false;

/**
 * Whether Temporal has accepted a cancel request: the operation can then only end canceled. The root scope doesn't show it, because the
 * deadline cancels that scope too, before the request.
 */
export function isCancelRequested(): boolean {
  return hasCome;
}

export const noteCancelRequest: Activate = (input, next) => {
  hasCome ||= input.activation.jobs?.some(({ cancelWorkflow }) => cancelWorkflow) ?? false;
  next(input);
};
