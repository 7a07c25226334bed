/** Patterns of JSON Schema on the linear engine: RE2's meaning, or a refusal that names the construct. */
import { expect, test } from '@jest/globals';
import { checkPattern, compilePattern } from '../../operations/patterns/index.js';

test.each([
  [String.raw`^\/a\.b$`, '/a.b', '/axb'],
  [String.raw`^\u{1F600}\u0061$`, '😀a', 'a'],
  [String.raw`^(?<year>\d{4})-\w+$`, '2026-x_1', '2026-é'],
  [String.raw`^\p{Lu}\p{L}*$`, 'Érable', 'érable'],
  [String.raw`^\S+\s$`, 'a\u00a0 ', 'a\u00a0'],
  ['^a.b$', 'a\rb', 'a\nb'],
  ['[^]', '\n', ''],
])('%s matches %j, and not %j', (pattern, good, bad) => {
  const compiled = compilePattern(pattern);
  expect([compiled.test(good), compiled.test(bad)]).toEqual([true, false]);
});

test.each([
  ['(a', 'expected a regular expression; Invalid regular expression: /(a/u: Unterminated group'],
  ['a{,3}', 'expected a regular expression'],
  ['\\-', 'expected a regular expression'],
  ['\\Z', 'expected a regular expression'],
])('refused: %s is no regular expression', (pattern, why) => {
  expect(() => checkPattern(pattern)).toThrow(why);
  expect(() => compilePattern(pattern)).toThrow(why);
});

test.each([
  ['^(?=a)b', 'invalid or unsupported Perl syntax: `(?=`; expected syntax of RE2'],
  ['a(?!b)', 'invalid or unsupported Perl syntax: `(?!`'],
  ['(?<=a)b', 'invalid named capture: `(?<=a)'],
  ['(a)\\1', 'invalid escape sequence: `\\1`'],
  ['\\p{Script=Greek}', 'invalid character class range: `\\p{Script=Greek}`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['(?:a{100}){100}', 'invalid repeat count'],
  [`${'(?:a'.repeat(1001)}${')?'.repeat(1001)}`, 'expression nests too deeply'],
])('refused: %.20s by the engine', (pattern, why) => {
  expect(() => compilePattern(pattern)).toThrow(why);
});

test('a pattern with nested repetitions comes to an end with a text of 1 MiB', () => {
  expect(compilePattern('^(?:(?:a+)+b?)+$').test(`${'a'.repeat(1024 * 1024)}c`)).toBe(false);
});
