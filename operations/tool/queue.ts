/** Priority and queue of a tool: which operations run first, how many at once, and how many may wait. */

/** Priorities of Temporal's task queues: 1 is the first; 3 is the default. */
export const PRIORITIES = { first: 1, last: 5 } as const;

/** Maximum `concurrency` of a queue, and maximum number of waiting operations. */
export const MAX_CONCURRENCY = 1_000;
export const MAX_WAITING = 10_000;

/** Default time to wait for a turn: a day. */
export const DEFAULT_WAIT_SECONDS = 24 * 3600;
/** Longest time to wait for a turn: 30 days. */
export const MAX_WAIT_SECONDS = 30 * 24 * 3600;

export interface QueueOptions {
  /** Tools with the same queue name share the queue, and must declare the same limits. Default: the tool's name. */
  name?: string;
  /** Operations that run at once, over all hosts: 1 to 1000. */
  concurrency: number;
  /** Operations of one caller that run at once. Default: `concurrency`. */
  perCaller?: number;
  /** Operations that may wait; further calls are refused. 0: a call that would have to wait is refused. Default: 10000. */
  maxWaiting?: number;
  /** How long an operation may wait for its turn before it fails, in seconds. Default: 24 hours, at most 30 days. */
  waitSeconds?: number;
}

/** A tool's queue with its defaults. Memos of operations hold it: add fields, never rename them. */
export interface ToolQueue {
  name: string;
  concurrency: number;
  perCaller?: number;
  maxWaiting: number;
  waitSeconds: number;
}

export function completeQueue(
  tool: string,
  { name = tool, concurrency, perCaller, maxWaiting, waitSeconds }: QueueOptions,
): ToolQueue {
  return {
    name,
    concurrency,
    ...(perCaller === undefined || perCaller === concurrency ? {} : { perCaller }),
    maxWaiting: maxWaiting ?? MAX_WAITING,
    waitSeconds: waitSeconds ?? DEFAULT_WAIT_SECONDS,
  };
}

/** Why a tool can't share its queue with another one; undefined if the limits are the same, or the queues differ. */
export function queueConflict(
  own: ToolQueue | undefined,
  other: { name: string; queue: ToolQueue | undefined },
): string | undefined {
  if (!own || own.name !== other.queue?.name) return undefined;
  const fields = ['concurrency', 'perCaller', 'maxWaiting', 'waitSeconds'] as const;
  const different = fields.filter((field) => own[field] !== other.queue![field]);
  if (different.length === 0) return undefined;
  const limits = (queue: ToolQueue) =>
    different.map((field) => `${field} ${queue[field] ?? 'none'}`).join(', ');
  return `queue "${own.name}": expected the limits that tool "${other.name}" declares for it (${limits(other.queue)}); got ${limits(own)}`;
}
