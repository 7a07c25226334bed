/** Durations that a tool's author estimates, and the arguments they depend on. */

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
