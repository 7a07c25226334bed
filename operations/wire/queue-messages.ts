/** Lines about queues, for people and models. */
import { humanDuration } from '../tool/budgets.js';
import type { Places, Refusal } from './queue-wire.js';
import type { ToolQueue } from '../tool/queue.js';

/** Bounds of the advised wait before another try, in seconds. */
const SHORTEST_RETRY_SECONDS = 5;
const LONGEST_RETRY_SECONDS = 3_600;

/** `the queue render is full: 2 running, 10 waiting`. */
export function queueFullMessage(name: string, { running, waiting, isCallerFull }: Refusal): string {
  return isCallerFull
    ? `the caller has as many operations in the queue ${name} as one may: ${running} of all callers running, ${waiting} waiting`
    : `the queue ${name} is full: ${running} running, ${waiting} waiting`;
}

/** When a place may be free, in seconds: the average time until one of the running operations ends. */
export function retryAfterSeconds({ concurrency }: ToolQueue, estimateSeconds: number | undefined): number {
  const seconds = Math.ceil((estimateSeconds ?? 60) / concurrency);
  return Math.min(LONGEST_RETRY_SECONDS, Math.max(SHORTEST_RETRY_SECONDS, seconds));
}

/** `; try again in about 30 s`, for the end of a message. */
export function retryAdvice(seconds: number): string {
  return `; try again in about ${humanDuration(seconds)}`;
}

/** Status message of a waiting operation. @param places of its queue; undefined if unknown */
export function waitingMessage(places: Places | undefined, workflowId: string): string {
  const { order = [], hasMore } = places ?? {};
  const place = order.indexOf(workflowId);
  if (place === 0) return 'waiting for its turn: it is next';
  if (place > 0) return `waiting for its turn: ${place} before it`;
  return hasMore ? `waiting for its turn: ${order.length} or more before it` : 'waiting for its turn';
}
