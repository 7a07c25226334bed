/**
 * How long work takes, told from past runs: a line over the size of the work where enough runs have one, else their
 * median. Theil and Sen's line goes through medians only, so that a few runs that were held up don't bend it.
 */

/** A run that completed. */
export interface PastRun {
  /** How long it took, in seconds, people's time to answer not counted. */
  seconds: number;
  /** Size of its work, in whatever its tool counts; missing where nobody could tell. */
  size?: number;
}

/** Runs and different sizes from which on a line says more than a median. */
const FIT_RUNS = 5;
const FIT_SIZES = 3;
/** Shortest estimate, in seconds. */
const SHORTEST_SECONDS = 0.1;

/**
 * What past runs say of work of this size, in seconds.
 *
 * @param size undefined where nobody knows it before the start
 * @returns undefined when there are no past runs; never below 0.1
 */
export function estimateFrom(runs: readonly PastRun[], size: number | undefined): number | undefined {
  if (runs.length === 0) return undefined;
  const line = size === undefined ? undefined : fitLine(runs);
  const seconds =
    line && size !== undefined
      ? line.seconds + line.secondsPerUnit * size
      : median(runs.map((run) => run.seconds));
  return Math.max(SHORTEST_SECONDS, seconds);
}

/** Seconds that work of no size takes, and what each unit adds; neither is below 0. */
export interface DurationLine {
  seconds: number;
  secondsPerUnit: number;
}

/** Undefined while there are too few runs, or too few sizes among them, to tell. */
export function fitLine(runs: readonly PastRun[]): DurationLine | undefined {
  const sized = runs.filter((run): run is Required<PastRun> => run.size !== undefined);
  if (sized.length < FIT_RUNS || new Set(sized.map(({ size }) => size)).size < FIT_SIZES) return undefined;
  const slopes = sized.flatMap((one, index) =>
    sized
      .slice(index + 1)
      .filter(({ size }) => size !== one.size)
      .map((other) => (other.seconds - one.seconds) / (other.size - one.size)),
  );
  const secondsPerUnit = Math.max(0, median(slopes));
  const seconds = median(sized.map((run) => run.seconds - secondsPerUnit * run.size));
  if (seconds >= 0) return { seconds, secondsPerUnit };
  // Work of no size can't take less than no time: the line that begins at nothing.
  const larger = sized.filter(({ size }) => size > 0);
  return { seconds: 0, secondsPerUnit: median(larger.map((run) => run.seconds / run.size)) };
}

/** @param values at least one */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * How long a run took, in seconds, people's time to answer not counted.
 *
 * @param awaitedMs milliseconds for which only people were awaited
 */
export function workedSeconds(createdAt: Date, closedAt: Date, awaitedMs = 0): number {
  return Math.max(0, closedAt.getTime() - createdAt.getTime() - awaitedMs) / 1000;
}
