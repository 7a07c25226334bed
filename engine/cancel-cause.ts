/**
 * Cause of a cancel request: the caller's reason and the operation's progress. It's the only field of the request that Temporal keeps.
 * Temporal drops the last heartbeats of an activity that is cancelled between attempts, and a workflow that doesn't wait for a cancelled
 * activity never sees its last report.
 */
import type { Progress } from '../operations/record.js';

/** Begins the last line of a cause with progress, followed by JSON. */
const PROGRESS_PREFIX = 'longhaul.progress: ';

/** Progress without its message: anyone can read causes, and Temporal encodes messages elsewhere. */
export type Reached = Pick<Progress, 'progress' | 'total'>;

export function cancelCause(reason: string | undefined, progress: Progress | undefined): string | undefined {
  // The empty last line keeps a reason that looks like a cause a reason.
  if (!progress) return reason && readCancelCause(reason).reached ? `${reason}\n` : reason;
  const { message: _message, ...reached } = progress;
  return `${reason ? `${reason}\n` : ''}${PROGRESS_PREFIX}${JSON.stringify(reached)}`;
}

/** Splits a cause. An operator's cause is all reason. */
export function readCancelCause(cause: string): { reason?: string; reached?: Reached } {
  const start = cause.lastIndexOf('\n') + 1;
  const reached = cause.startsWith(PROGRESS_PREFIX, start)
    ? reachedIn(cause.slice(start + PROGRESS_PREFIX.length))
    : undefined;
  const reason = reached ? cause.slice(0, Math.max(0, start - 1)) : cause;
  return { ...(reason ? { reason } : {}), ...(reached ? { reached } : {}) };
}

function reachedIn(json: string): Reached | undefined {
  try {
    const { progress, total } = JSON.parse(json) as Partial<Reached>;
    if (typeof progress !== 'number') return undefined;
    return { progress, ...(typeof total === 'number' ? { total } : {}) };
  } catch {
    return undefined;
  }
}
