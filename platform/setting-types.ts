/** Types of settings, which come as values from a file, and as text from flags and variables. */
import { delimiter } from 'node:path';
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
