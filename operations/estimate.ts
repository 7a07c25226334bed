/**
 * Durations estimated from past runs: a line over the size of the work where enough runs have a size, else the median. The
 * Theil-Sen line is built from medians, so that a few delayed runs don't bend it. Beyond the sizes that past runs cover, the
 * line given by the tool's author is used.
 */

/** A run that completed. */
export interface PastRun {
  /** Duration in seconds, without people's time to answer and time in queue. */
  seconds: number;
  /** Size of its work, in the tool's units; missing where unknown. */
  size?: number;
}

/** Least number of runs, and of different sizes among them, for a line. */
const FIT_RUNS = 5;
const FIT_SIZES = 3;
/** Sizes are nearly equal when the largest is below this many times the smallest: the slope through them is arbitrary. */
const NEAR_EQUAL_FACTOR = 2;
/** How far beyond the largest size a line through past runs is extrapolated, as a factor. */
const EXTRAPOLATION_FACTOR = 10;
/** Shortest estimate, in seconds. */
const SHORTEST_SECONDS = 0.1;

/**
 * Estimates work of this size from past runs, in seconds.
 *
 * @param size undefined where it isn't known before the start
 * @param prior the author's line over the size; undefined where the author named no size
 * @returns undefined when there are no past runs; never below 0.1
 */
export function estimateFrom(
  runs: readonly PastRun[],
  size: number | undefined,
  prior?: DurationLine,
): number | undefined {
  if (runs.length === 0) return undefined;
  const seconds = size === undefined ? medianSeconds(runs) : estimateForSize(runs, size, prior);
  return Math.max(SHORTEST_SECONDS, seconds);
}

function estimateForSize(runs: readonly PastRun[], size: number, prior: DurationLine | undefined): number {
  const sized = runs.filter(isSized);
  const line = fitLine(runs);
  const sizes = sized.map((run) => run.size);
  const [smallest, largest] = [Math.min(...sizes), Math.max(...sizes)];
  const isCovered = size >= smallest && size <= largest;
  const isExtrapolable =
    isCovered || (largest >= NEAR_EQUAL_FACTOR * smallest && size <= EXTRAPOLATION_FACTOR * largest);
  if (line && (!prior || isExtrapolable)) return secondsAt(line, size);
  if (!prior || sized.length === 0) return medianSeconds(runs);
  // Larger work is never estimated as quicker than past runs, nor smaller work as slower.
  if (size > largest)
    return Math.max(secondsAt(prior, size), line ? secondsAt(line, largest) : medianSeconds(sized));
  if (size < smallest)
    return Math.min(secondsAt(prior, size), line ? secondsAt(line, smallest) : medianSeconds(sized));
  const took = sized.map((run) => run.seconds);
  const shifted = median(sized.map((run) => run.seconds + prior.secondsPerUnit * (size - run.size)));
  return Math.min(Math.max(...took), Math.max(Math.min(...took), shifted));
}

function secondsAt({ seconds, secondsPerUnit }: DurationLine, size: number): number {
  return seconds + secondsPerUnit * size;
}

function medianSeconds(runs: readonly PastRun[]): number {
  return median(runs.map((run) => run.seconds));
}

function isSized(run: PastRun): run is Required<PastRun> {
  return run.size !== undefined;
}

/** Seconds for work of size 0, and seconds that each unit adds; neither is below 0. */
export interface DurationLine {
  seconds: number;
  secondsPerUnit: number;
}

/** Fits a Theil-Sen line; undefined with too few runs, or too few sizes among them. */
export function fitLine(runs: readonly PastRun[]): DurationLine | undefined {
  const sized = runs.filter(isSized);
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
  // Size 0 can't take less than 0 seconds: use the line through the origin.
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
 * Duration of a run in seconds, without people's time to answer and time in queue.
 *
 * @param idle.awaitedMs milliseconds in which the run waited only for people
 * @param idle.queuedMs milliseconds in which all of its work waited for a worker
 * @param idle.turnWaitedMs milliseconds in which it waited for its turn in a queue
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
