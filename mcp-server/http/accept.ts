/** Content negotiation by the header `Accept` (RFC 9110, section 12.5.1). */
import { parseAccept } from 'hono/utils/accept';

export const JSON_TYPE = 'application/json';
export const EVENT_STREAM_TYPE = 'text/event-stream';

interface Match {
  /** From 0 (not acceptable) to 1. */
  quality: number;
  /** 3: the type itself; 2: `text/*`; 1: any type; 0: no range matches. */
  specificity: number;
}

/** Without a header, every type is acceptable. */
export function isAcceptable(header: string | undefined, type: string): boolean {
  return matchOf(header, type).quality > 0;
}

/** Whether the header names the type or, for `text/event-stream`, has `text/*`. A wildcard for any type doesn't count. */
export function isNamed(header: string | undefined, type: string): boolean {
  const { quality, specificity } = matchOf(header, type);
  return quality > 0 && specificity > 1;
}

/**
 * The client's preferred type: by weight, then by how exactly a range names it, then by the order of `types`.
 *
 * @returns the first type if none is acceptable, since a server may disregard the header
 */
export function preferredType<T extends string>(header: string | undefined, types: readonly T[]): T {
  const ranked = types.map((type) => ({ type, ...matchOf(header, type) }));
  ranked.sort((a, b) => b.quality - a.quality || b.specificity - a.specificity);
  return ranked[0]!.type;
}

/** The most specific range decides. Ignores parameters other than `q`. */
function matchOf(header: string | undefined, type: string): Match {
  const ranges = parseAccept(header ?? '');
  if (ranges.length === 0) return { quality: 1, specificity: 1 };
  let best: Match = { quality: 0, specificity: 0 };
  for (const { type: range, q } of ranges) {
    const specificity = specificityOf(range.toLowerCase(), type);
    if (specificity > best.specificity) best = { quality: q, specificity };
  }
  return best;
}

/** @param range in lower case. Java's HttpURLConnection sends a bare asterisk for any type. */
function specificityOf(range: string, type: string): number {
  if (range === type) return 3;
  if (range === type.replace(/\/.*/, '/*')) return 2;
  return range === '*/*' || range === '*' ? 1 : 0;
}
