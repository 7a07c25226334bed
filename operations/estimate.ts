/** Estimates durations from past runs, by medians: a few delayed runs don't change them. */
import type { CallEstimate } from './tool-estimate.js';

export interface PastRun {
  /** In seconds, without time for answers and in queues. */
  seconds: number;
  /** Size of its work, in the tool's units; missing if unknown. */
  size?: number;
}

/** How far past the largest size of past runs to extrapolate, as a factor. */
const EXTRAPOLATION_FACTOR = 10;
/** Shortest estimate, in seconds. */
const SHORTEST_SECONDS = 0.1;

/**
 * Estimates work of this size from past runs, in seconds: the author's base plus the median time per unit of size, or the median duration
 * if no size is known.
 *
 * @param size undefined if unknown before the start
 * @returns at least 0.1; undefined if the author's estimate is better: without past runs, and for over ten times their largest size
 */
export function estimateFrom(
  runs: readonly PastRun[],
  size: number | undefined,
  author: CallEstimate,
): number | undefined {
  if (runs.length === 0) return undefined;
  const took = runs.map(({ seconds }) => seconds);
  const sized = runs.filter((run): run is Required<PastRun> => run.size !== undefined && run.size > 0);
  if (size === undefined || sized.length === 0) return Math.max(SHORTEST_SECONDS, median(took));
  if (author.per && size > EXTRAPOLATION_FACTOR * Math.max(...sized.map((run) => run.size))) return undefined;
  const baseSeconds = author.per ? Math.min(author.seconds, ...took) : 0;
  const perUnit = sized.map((run) => (run.seconds - baseSeconds) / run.size).filter((rate) => rate > 0);
  return Math.max(SHORTEST_SECONDS, baseSeconds + size * (perUnit.length > 0 ? median(perUnit) : 0));
}

/** @param values at least one */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Duration of a run in seconds, without time for answers and in queues.
 *
 * @param idle.awaitedMs milliseconds of waiting only for people
 * @param idle.queuedMs milliseconds in which all of its work waited for a worker
 * @param idle.turnWaitedMs milliseconds of waiting for its turn in a queue
 */
export function workedSeconds(
  createdAt: Date,
  closedAt: Date,
  {
    awaitedMs = 0,
    queuedMs = 0,
    turnWaitedMs = 0,
  }: { awaitedMs?: number; queuedMs?: number; turnWaitedMs?: number } = {},
): number {
  const idleMs = awaitedMs + queuedMs + turnWaitedMs;
  return Math.max(0, closedAt.getTime() - createdAt.getTime() - idleMs) / 1000;
}
