/** How an operation's workflow ends when it doesn't complete: failures that carry what a reader needs. */
import { ApplicationFailure, CancelledFailure, TemporalFailure } from '@temporalio/workflow';
import { humanDuration } from '../../operations/budgets.js';
import type { ClosingDetails } from '../../operations/wire.js';
import { marker, state } from './state.js';

/** Longest message that a failure carries, in characters: Temporal has to take the failure, whatever it says. */
const MESSAGE_LIMIT = 16_000;

/** Does this error end the workflow? Temporal lets every other error fail the workflow task instead. */
export function isFinalFailure(error: unknown): error is TemporalFailure {
  return error instanceof TemporalFailure;
}

/** Temporal keeps no details of a cancelled workflow: what is left of it is in the memo. */
export function canceled(): CancelledFailure {
  return new CancelledFailure('canceled');
}

export function timedOut(): ApplicationFailure {
  const message = `the work took longer than its maximum of ${humanDuration(marker()?.deadlineSeconds ?? 0)}`;
  return ApplicationFailure.create({
    message,
    type: 'longhaul.timed_out',
    nonRetryable: true,
    details: [closing({ error: { kind: 'timed_out', message, retryable: false } })],
  });
}

/** Says of a failure what its root says: activities' failures come wrapped. */
export function failed(failure: unknown): ApplicationFailure {
  let root = failure as TemporalFailure;
  while (!(root instanceof ApplicationFailure) && root.cause instanceof TemporalFailure) root = root.cause;
  const type = root instanceof ApplicationFailure ? (root.type ?? undefined) : root.name;
  const isProtocol = type === 'longhaul.protocol';
  const code = isProtocol
    ? ((root as ApplicationFailure).details?.[0] as { code?: number } | undefined)?.code
    : undefined;
  const cause = root.cause && shorten(root.cause.message);
  const message = shorten(root.message);
  const error = {
    kind: isProtocol ? ('protocol' as const) : ('failed' as const),
    message,
    retryable: false,
    ...(type === undefined ? {} : { type }),
    ...(code === undefined ? {} : { code }),
    ...(cause === undefined ? {} : { cause }),
  };
  return ApplicationFailure.create({
    message,
    type: type ?? 'failed',
    nonRetryable: true,
    details: [closing({ error })],
    ...(failure instanceof Error && isShort(failure) ? { cause: failure } : {}),
  });
}

function shorten(message: string): string {
  return message.length > MESSAGE_LIMIT
    ? `${message.slice(0, MESSAGE_LIMIT)} ... (${message.length} characters)`
    : message;
}

function isShort(failure: Error): boolean {
  for (let at: unknown = failure; at instanceof Error; at = at.cause)
    if (at.message.length > MESSAGE_LIMIT) return false;
  return true;
}

function closing(fields: Omit<ClosingDetails, 'longhaul'>): ClosingDetails {
  const { partial } = state();
  return { longhaul: 'closing', ...fields, ...(partial === undefined ? {} : { partial }) };
}
