/** Estimates durations from past runs, by medians: a few delayed runs don't change them. */
import type { CallEstimate } from './tool/estimate.js';

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
 * Estimates work of this size from past runs, in seconds: by a line through their medians, or the median duration if no size is known.
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
  const sized = runs.filter((run): run is Required<PastRun> => run.size !== undefined);
  if (size === undefined || sized.length === 0) return Math.max(SHORTEST_SECONDS, median(took));
  if (author.per && size > EXTRAPOLATION_FACTOR * Math.max(...sized.map((run) => run.size))) return undefined;
  const { baseSeconds, perUnit } = lineOf(sized, author);
  return Math.max(SHORTEST_SECONDS, baseSeconds + size * perUnit);
}

/**
 * Seconds for each call and for each unit of size: the line through the medians of the smaller and the larger half of the runs. Runs of one
 * size make no line: the author's base counts, up to what these runs took.
 */
function lineOf(
  runs: readonly Required<PastRun>[],
  author: CallEstimate,
): { baseSeconds: number; perUnit: number } {
  const sorted = [...runs].sort((one, other) => one.size - other.size);
  const half = Math.ceil(sorted.length / 2);
  const middleOf = (some: readonly Required<PastRun>[]) => ({
    size: median(some.map((run) => run.size)),
    seconds: median(some.map((run) => run.seconds)),
  });
  const small = middleOf(sorted.slice(0, half));
  const large = middleOf(sorted.slice(-half));
  if (small.size === large.size) {
    const { size, seconds } = middleOf(sorted);
    const baseSeconds = author.per ? Math.min(author.seconds, seconds) : 0;
    return { baseSeconds, perUnit: size > 0 ? (seconds - baseSeconds) / size : 0 };
  }
  const perUnit = Math.max(0, (large.seconds - small.seconds) / (large.size - small.size));
  return { baseSeconds: Math.max(0, median(runs.map((run) => run.seconds - perUnit * run.size))), perUnit };
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
