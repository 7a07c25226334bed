/**
 * Durations that a tool's author estimates, with the arguments they depend on, and estimates from past runs. Those are medians, so a few
 * delayed runs don't change them.
 */

const BYTES_IN_GB = 1e9;

export interface CallEstimate {
  /** Base duration of every call, in seconds. */
  seconds: number;
  /** Size of the work, known before it starts, and the seconds per unit. */
  per?: {
    argument: string;
    /**
     * How to measure the argument. `value`: the number itself, or the length of a list or text. `file_bytes`: the size of the file at this
     * path in the data folders, or of all files that match the pattern. Default: `value`.
     */
    of?: 'value' | 'file_bytes';
    seconds: number;
  };
}

/** Estimated duration of a tool's work. Past runs override it, except for work of over ten times their largest size. */
export interface ToolEstimate extends CallEstimate {
  /** Kinds of calls with their own estimates and past runs. The first one that matches the arguments applies. */
  variants?: (CallEstimate & {
    /** Argument -> its value in such calls, e.g. `{ profile: true }`. */
    when: Record<string, string | number | boolean>;
  })[];
}

/** The first problem of an estimate; undefined if it's valid. */
export function estimateProblem(estimate: ToolEstimate): string | undefined {
  const own = problemOfCall('estimate', estimate);
  if (own) return own;
  for (const [index, variant] of (estimate.variants ?? []).entries()) {
    const where = `estimate.variants[${index}]`;
    if (typeof variant.when !== 'object' || variant.when === null || Object.keys(variant.when).length === 0)
      return `${where}.when: expected arguments with their values, e.g. { deep: true }; got ${JSON.stringify(variant.when)}`;
    if (!(Number.isFinite(variant.seconds) && variant.seconds >= 0))
      return `${where}.seconds: expected seconds, 0 or more; got ${variant.seconds}`;
    const problem = problemOfCall(where, variant);
    if (problem) return problem;
  }
  return undefined;
}

function problemOfCall(where: string, { per }: CallEstimate): string | undefined {
  if (!per) return undefined;
  if (!(Number.isFinite(per.seconds) && per.seconds >= 0))
    return `${where}.per.seconds: expected seconds, 0 or more; got ${per.seconds}`;
  if (per.of !== undefined && !['value', 'file_bytes'].includes(per.of))
    return `${where}.per.of: expected "value" or "file_bytes"; got ${JSON.stringify(per.of)}`;
  return undefined;
}

export function estimateArguments({ per, variants = [] }: ToolEstimate): string[] {
  return [per, ...variants.map((variant) => variant.per)]
    .flatMap((one) => (one ? [one.argument] : []))
    .concat(variants.flatMap(({ when }) => Object.keys(when)));
}

/** The first variant that the arguments match: the author's estimate, and a name that is stable for the same `when`. */
export function matchVariant(
  estimate: ToolEstimate,
  args: Record<string, unknown>,
): { estimate: CallEstimate; variant?: string } {
  const found = estimate.variants?.find(({ when }) =>
    Object.entries(when).every(([name, value]) => args[name] === value),
  );
  return found ? { estimate: found, variant: variantName(found.when) } : { estimate };
}

function variantName(when: Record<string, unknown>): string {
  return Object.entries(when)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(', ');
}

/** Size of the work in its arguments; undefined if they don't hold it. */
export function sizeInArguments({ per }: CallEstimate, args: Record<string, unknown>): number | undefined {
  if (!per || per.of === 'file_bytes') return undefined;
  const value = args[per.argument];
  if (typeof value === 'number') return value;
  return Array.isArray(value) || typeof value === 'string' ? value.length : undefined;
}

/** The author's estimate, in seconds. @param size of the work; undefined if unknown */
export function fixedEstimateSeconds({ seconds, per }: CallEstimate, size: number | undefined): number {
  return seconds + Math.max(0, size ?? 0) * (per?.seconds ?? 0);
}

export function describeEstimate(estimate: ToolEstimate): string {
  const others = (estimate.variants ?? []).map(
    (variant) => `${variantName(variant.when)}: ${describeCall(variant)}`,
  );
  return `about ${[describeCall(estimate), ...others].join('; ')}`;
}

function describeCall({ seconds, per }: CallEstimate): string {
  if (!per?.seconds) return `${seconds} s`;
  const each =
    per.of === 'file_bytes'
      ? `${Number((per.seconds * BYTES_IN_GB).toPrecision(6))} s per GB of ${per.argument}`
      : `${per.seconds} s per unit of ${per.argument}`;
  return `${seconds} s + ${each}`;
}

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
