/**
 * Cause of a cancel request, the only field of it that Temporal keeps for a program: the caller's reason and the operation's
 * progress at that time. Temporal drops the heartbeats of an activity that is cancelled while it waits for its next attempt,
 * and a workflow that doesn't wait for a cancelled activity never gets its last report.
 */
import type { Progress } from '../operations/record.js';

/** Begins the last line of a cause that holds the progress: its numbers as JSON. */
const PROGRESS_PREFIX = 'longhaul.progress: ';

/** Numbers of an operation's progress. Its message stays where Temporal encodes it: causes are readable for all. */
export type Reached = Pick<Progress, 'progress' | 'total'>;

/** Cause of a cancel request; undefined if there is nothing to keep. */
export function cancelCause(reason: string | undefined, progress: Progress | undefined): string | undefined {
  // An empty last line: a caller's reason that looks like a cause stays a reason.
  if (!progress) return reason && readCancelCause(reason).reached ? `${reason}\n` : reason;
  const { message: _message, ...reached } = progress;
  return `${reason ? `${reason}\n` : ''}${PROGRESS_PREFIX}${JSON.stringify(reached)}`;
}

/** Reason and progress in a cause; one that an operator gave is all reason. */
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
