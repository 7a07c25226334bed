/**
 * Patterns and formats of texts in schemas. Patterns run on RE2 in JavaScript, which matches in linear time. It's loaded with the first
 * pattern: sandboxes run every import.
 */
import { createRequire } from 'node:module';
import type * as Re2js from 're2js';
import { format as formats } from '@cfworker/json-schema';

// The workflows' bundler resolves this too (worker/versions/compile-bundle.ts).
const require = createRequire(import.meta.url);

/** Maximum length of the engine's message, which may quote the whole pattern. */
const LONGEST_MESSAGE = 120;

/** zod's patterns with look-aheads, and the JSON Schema formats to check instead. */
const FORMATS: ReadonlyMap<string, string> = new Map([
  // z.hostname()
  [
    '^(?=.{1,253}\\.?$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[-0-9a-zA-Z]{0,61}[0-9a-zA-Z])?)*\\.?$',
    'hostname',
  ],
  // z.iso.duration()
  [
    '^P(?:(\\d+W)|(?!.*W)(?=\\d|T\\d)(\\d+Y)?(\\d+M)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+([.,]\\d+)?S)?)?)$',
    'duration',
  ],
  // z.email(), until 4.5
  [
    "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    'email',
  ],
]);

export interface Pattern {
  /** Whether the pattern matches anywhere in the text. */
  test(text: string): boolean;
}

/** Thrown for a pattern that isn't a valid ECMAScript regular expression, or has no linear-time match. */
export class UnsupportedPattern extends Error {
  override name = 'UnsupportedPattern';
}

/** Checks for an ECMAScript regular expression with flag `u` (JSON Schema 2020-12 core, section 6.4). @throws UnsupportedPattern */
export function checkPattern(source: string): void {
  try {
    new RegExp(source, 'u');
  } catch (error) {
    throw new UnsupportedPattern(`expected a regular expression; ${(error as Error).message}`);
  }
}

/**
 * Compiles a pattern of JSON Schema. Sets have RE2's meaning: `\s` is ASCII white space, `.` excludes only the line feed.
 *
 * @throws UnsupportedPattern for an invalid regular expression, and for look-arounds, back-references, repetitions of more than 1,000 times
 *   and other syntax that RE2 lacks, except in the patterns of zod's own formats
 */
export function compilePattern(source: string): Pattern {
  const format = FORMATS.get(source);
  if (format !== undefined) return { test: (text) => fitsFormat(format, text) };
  checkPattern(source);
  const { RE2JS } = require('re2js') as typeof Re2js;
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source));
  } catch (error) {
    const why = (error as Error).message.replace(/^error parsing regexp: /, '').slice(0, LONGEST_MESSAGE);
    throw new UnsupportedPattern(`${why}; expected syntax of RE2, which is matched in linear time`);
  }
}

/** Formats of @cfworker/json-schema, and its `url`. Other formats are only annotations. */
export function fitsFormat(format: string, text: string): boolean {
  if (format === 'url') return isUrl(text);
  return !Object.hasOwn(formats, format) || formats[format]!(text);
}

/** Public URLs of http, https and ftp: the library's own format `url`. The library's expression takes exponential time. */
function isUrl(text: string): boolean {
  return !/\s/.test(text) && URL_PATTERN.test(text);
}

const LETTER = 'a-z\\u{a1}-\\u{ffff}';
const LABEL = `[${LETTER}0-9]+(?:-[${LETTER}0-9]+)*`;
const PRIVATE_ADDRESS =
  '(?!10(?:\\.\\d{1,3}){3})(?!127(?:\\.\\d{1,3}){3})(?!169\\.254(?:\\.\\d{1,3}){2})(?!192\\.168(?:\\.\\d{1,3}){2})(?!172\\.(?:1[6-9]|2\\d|3[0-1])(?:\\.\\d{1,3}){2})';
const ADDRESS =
  '(?:[1-9]\\d?|1\\d\\d|2[01]\\d|22[0-3])(?:\\.(?:1?\\d{1,2}|2[0-4]\\d|25[0-5])){2}(?:\\.(?:[1-9]\\d?|1\\d\\d|2[0-4]\\d|25[0-4]))';
const URL_PATTERN = new RegExp(
  `^(?:https?|ftp)://(?:\\S+@)?(?:${PRIVATE_ADDRESS}${ADDRESS}|${LABEL}(?:\\.${LABEL})*\\.[${LETTER}]{2,})(?::\\d{2,5})?(?:/\\S*)?$`,
  'iu',
);
