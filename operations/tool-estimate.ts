/** What a tool's author says of how long its work takes, and of what that depends on. */

const BYTES_IN_GB = 1e9;

/** How long a tool's work takes. Once there are past runs, they tell; over the size of the work where `per` names it. */
export interface ToolEstimate {
  /** What every call takes, in seconds. */
  seconds: number;
  /** The size of the work, known before it starts, and what each unit of it adds until past runs tell. */
  per?: {
    argument: string;
    /**
     * What of the argument counts. `value`: the number itself, or the length of a list or text. `file_bytes`: it is the
     * path of a file under the data folders, whose bytes count. Default: `value`.
     */
    of?: 'value' | 'file_bytes';
    /** Seconds a unit, 0 or more. */
    seconds: number;
  };
}

/** What is wrong with it; undefined when nothing is. */
export function problemOf({ per }: ToolEstimate): string | undefined {
  if (!per) return undefined;
  if (!(Number.isFinite(per.seconds) && per.seconds >= 0))
    return `estimate.per.seconds: expected seconds, 0 or more; got ${per.seconds}`;
  if (per.of !== undefined && !['value', 'file_bytes'].includes(per.of))
    return `estimate.per.of: expected "value" or "file_bytes"; got ${JSON.stringify(per.of)}`;
  return undefined;
}

/** The size of the work as its arguments say it; undefined where they don't. */
export function sizeInArguments({ per }: ToolEstimate, args: Record<string, unknown>): number | undefined {
  if (!per || per.of === 'file_bytes') return undefined;
  const value = args[per.argument];
  if (typeof value === 'number') return value;
  return Array.isArray(value) || typeof value === 'string' ? value.length : undefined;
}

/**
 * What the author's own estimate says, in seconds.
 *
 * @param size of the work; undefined where nobody knows it
 */
export function fixedEstimateSeconds({ seconds, per }: ToolEstimate, size: number | undefined): number {
  return seconds + Math.max(0, size ?? 0) * (per?.seconds ?? 0);
}

/** In seconds, for the tool's description. */
export function describeEstimate({ seconds, per }: ToolEstimate): string {
  if (!per?.seconds) return `about ${seconds} s`;
  const each =
    per.of === 'file_bytes'
      ? `${Number((per.seconds * BYTES_IN_GB).toPrecision(6))} s per GB of ${per.argument}`
      : `${per.seconds} s per unit of ${per.argument}`;
  return `about ${seconds} s + ${each}`;
}
