/** Types of settings, which come as values from a file, and as text from flags and variables. */
import { delimiter } from 'node:path';
import { msToNumber, type StringValue } from './temporal/internal/durations.js';
import { z } from 'zod';

export const port = z.coerce.number().int().min(1).max(65535);

/** Paths or names, separated by the path separator. */
export const list = z.preprocess(
  (value) => (typeof value === 'string' ? value.split(delimiter).filter(Boolean) : value),
  z.array(z.string().min(1)),
);

/** Separates values that may hold the path separator, such as origins. */
export const COMMA = ',';

/** A list whose values are separated by commas. */
export function commaSeparated<Value extends z.ZodType>(value: Value) {
  return z.preprocess(
    (given) => (typeof given === 'string' ? given.split(COMMA).filter(Boolean) : given),
    z.array(value),
  );
}

const WORDS_FOR_YES_AND_NO: Record<string, boolean> = { true: true, '1': true, false: false, '0': false };
export const yesOrNo = z.preprocess(
  (value) => (typeof value === 'string' ? (WORDS_FOR_YES_AND_NO[value] ?? value) : value),
  z.boolean(),
);

/**
 * A duration with its unit, such as `5m`, as milliseconds. Temporal's SDK reads its text, as it does for the SDK's own options,
 * but a number without a unit, which would be milliseconds there, is refused.
 *
 * @param mostMs longest duration
 * @param expected description of it in errors
 */
export function duration(mostMs: number, expected: string) {
  return z.string(expected).transform((text, context) => {
    const ms = Number.isNaN(Number(text)) ? durationMs(text) : NaN;
    if (ms >= 0 && ms <= mostMs) return Math.round(ms);
    context.addIssue(expected);
    return z.NEVER;
  });
}

/** NaN for text that is no duration. */
function durationMs(text: string): number {
  try {
    return msToNumber(text as StringValue);
  } catch {
    return NaN;
  }
}
