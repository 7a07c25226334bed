/** Compiles schema patterns for an engine that matches in linear time. */
import { compileRe2 } from './engine.js';
import { EQUIVALENTS, type Tests } from './equivalents.js';
import { toRe2 } from './translate.js';
import { UnsupportedPattern } from './unsupported.js';

export { UnsupportedPattern } from './unsupported.js';

export interface Pattern {
  /** Whether the pattern matches anywhere in the text. */
  test(text: string): boolean;
}

/**
 * Checks that a pattern of JSON Schema has only syntax that {@link compilePattern} supports, without loading the engine.
 * Only excessive size is left for compilePattern to reject: nested repetitions of more than 1,000 times in all, groups
 * 1,000 deep.
 *
 * @throws UnsupportedPattern
 */
export function checkPattern(source: string): void {
  if (!EQUIVALENTS.has(source)) toRe2(source, () => '');
}

/**
 * Compiles a pattern of JSON Schema: an ECMAScript regular expression with the flag `u`.
 *
 * @throws UnsupportedPattern for an invalid regular expression, and for look-arounds, back-references, repetitions of more
 *   than 1,000 times and other syntax that RE2 lacks, except in zod's own formats
 */
export function compilePattern(source: string): Pattern {
  const { all, none = [] }: Tests = EQUIVALENTS.get(source) ?? { all: [source] };
  const wanted = all.map(compileOne);
  const unwanted = none.map(compileOne);
  return {
    test: (text) => wanted.every((one) => one.test(text)) && !unwanted.some((one) => one.test(text)),
  };
}

function compileOne(source: string): Pattern {
  const translated = toRe2(source);
  try {
    return compileRe2(translated);
  } catch (error) {
    const why = (error as Error).message.replace(/^error parsing regexp: /, '').replace(/: `.*$/s, '');
    throw new UnsupportedPattern(`${why}; expected syntax of RE2, which is matched in linear time`);
  }
}
