/** Poller behaviors, as text in settings. */

/** Temporal's `PollerBehavior`. */
export type PollerBehavior =
  | { type: 'simple-maximum'; maximum: number }
  | { type: 'autoscaling'; minimum: number; maximum: number; initial: number };

/** Maximum number of open polls that may be set. */
const MAX_POLLS = 1_000;

/** Temporal's defaults for `autoscaling`. */
const AUTOSCALING = { minimum: 1, maximum: 100, initial: 5 };

const AUTOSCALING_TEXT = /^autoscaling(?::((?:(?:minimum|maximum|initial)=\d+(?:,(?!$)|$))+))?$/;

/**
 * Reads `10`, a simple maximum, or `autoscaling`, optionally with bounds in any order: `autoscaling:minimum=2,maximum=20,initial=5`.
 * Bounds that are left out are Temporal's defaults, within those that are given.
 *
 * @returns undefined for other text, or bounds that contradict each other
 */
export function parsePollerBehavior(text: string): PollerBehavior | undefined {
  if (/^\d+$/.test(text)) {
    const maximum = Number(text);
    return maximum >= 1 && maximum <= MAX_POLLS ? { type: 'simple-maximum', maximum } : undefined;
  }
  const matched = AUTOSCALING_TEXT.exec(text);
  if (!matched) return undefined;
  const pairs = (matched[1] ?? '').split(',').filter(Boolean);
  const given: Partial<typeof AUTOSCALING> = Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), Number(pair.slice(pair.indexOf('=') + 1))]),
  );
  if (Object.keys(given).length < pairs.length) return undefined;
  const minimum = given.minimum ?? AUTOSCALING.minimum;
  const maximum = given.maximum ?? Math.max(AUTOSCALING.maximum, minimum, given.initial ?? 0);
  const initial = given.initial ?? Math.min(Math.max(AUTOSCALING.initial, minimum), maximum);
  const isOrdered = 1 <= minimum && minimum <= initial && initial <= maximum && maximum <= MAX_POLLS;
  return isOrdered ? { type: 'autoscaling', minimum, maximum, initial } : undefined;
}
