/** How an operation's workflow ends when it doesn't complete: failures that carry what a reader needs. */
import { ApplicationFailure, CancelledFailure, TemporalFailure } from '@temporalio/workflow';
import { humanDuration } from '../../operations/budgets.js';
import type { Closing } from '../../operations/wire.js';
import { marker, state } from './state.js';

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
  const cause = root.cause?.message;
  const error = {
    kind: isProtocol ? ('protocol' as const) : ('failed' as const),
    message: root.message,
    retryable: false,
    ...(type === undefined ? {} : { type }),
    ...(cause === undefined ? {} : { cause }),
  };
  return ApplicationFailure.create({
    message: root.message,
    type: type ?? 'failed',
    nonRetryable: true,
    details: [closing({ error, ...(code === undefined ? {} : { code }) })],
    ...(failure instanceof Error ? { cause: failure } : {}),
  });
}

function closing(fields: Omit<Closing, 'longhaul'>): Closing {
  const { partial } = state();
  return { longhaul: 'closing', ...fields, ...(partial === undefined ? {} : { partial }) };
}
