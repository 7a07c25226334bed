/** ECMAScript's patterns on the linear engine: the same meaning, or a refusal by name. */
import { describe, expect, test } from '@jest/globals';
import { EQUIVALENTS } from '../../operations/patterns/equivalents.js';
import { checkPattern, compilePattern } from '../../operations/patterns/index.js';

const ATOMS =
  String.raw`a b Z 0 é 😀 / - # " \d \D \w \W \s \S . \. \/ \$ \t \n \v \f \r \0 \cA \cj \x41 \u0061 \u{1F600}
  \uD83D\uDE00 \uD83D \uDE00 [^] [] [a-z] [^a-z] [\d-] [\w\s] [\b] [^\S] [\W] [\D_] [a\-z] [-a] [a-] [\^a] [^^] [😀-😂]
  [\u{1F600}-\u{1F610}] [\u0000-\u001f] [.] [$(] [\]] [[:alpha:] [&&a] [\uD83D] [\cJ] \p{L} \P{L} \p{Lu} [^\p{L}\d]
  \p{Script=Greek} \p{ASCII} \b \B ^ $`.split(/\s+/);
const ASSERTIONS = ['\\b', '\\B', '^', '$'];
const QUANTIFIERS = ['*', '+', '?', '{2}', '{0,2}', '{1,}', '*?', '+?', '??', '{1,3}?'];
const CHARACTERS = [
  ...'abZ09_- \n\r\t\v\f\0\b\x1f{./éßſK\u00a0\u2028\ufeff\u1680ａ',
  '😀',
  '\ud83d',
  '\ude00',
];

/** The same numbers in every run: Numerical Recipes' linear congruential generator. */
function generator(seed: number): (below: number) => number {
  return (below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}

test('patterns match the same texts as on the JavaScript engine', () => {
  const below = generator(7);
  const pick = <T>(list: readonly T[]) => list[below(list.length)]!;
  let names = 0;
  const patternOf = (depth: number): string => {
    const terms = Array.from({ length: 1 + below(3) }, () => {
      const isGroup = depth > 0 && below(4) === 0;
      const opening = isGroup && pick(['(', '(?:', `(?<n${(names += 1)}>`]);
      const term = isGroup ? `${opening as string}${patternOf(depth - 1)})` : pick(ATOMS);
      return !ASSERTIONS.includes(term) && below(3) === 0 ? term + pick(QUANTIFIERS) : term;
    });
    return terms.join('') + (below(6) === 0 ? `|${patternOf(0)}` : '');
  };
  const differences: unknown[] = [];
  for (let round = 0; round < 2_000; round += 1) {
    const pattern = patternOf(2);
    const native = new RegExp(pattern, 'u');
    const linear = compilePattern(pattern);
    for (let at = 0; at < 10; at += 1) {
      const text = Array.from({ length: below(6) }, () => pick(CHARACTERS)).join('');
      if (linear.test(text) !== native.test(text)) differences.push({ pattern, text });
    }
  }
  expect(differences).toEqual([]);
});

test('the formats of zod that have look-aheads match the same texts without them', () => {
  const long = [63, 63, 63, 58].map((length) => 'a'.repeat(length)).join('.');
  const texts = [
    ...['example.com', 'a.b.c.', `${long}.de`, `${long}x.de`, `${long}.de.`, 'a@b.c', 'localhost', '-a.de'],
    ...[
      'P1Y2M3DT4H5M6S',
      'P3W',
      'PT1S',
      'PT0.5S',
      'P',
      'PT',
      'P1DT',
      '+P1Y',
      'P1.5Y',
      '-P1,5W',
      'PT-1H',
      'P1Y\n',
    ],
    ...['a.b@c.de', '.a@b.cd', 'a..b@c.de', "o'neil+a@x-y.org", 'a@b', 'a@b..cd'],
    ...['😀', '👍🏽', '🇩🇪', '#️⃣', '1', '©', '😀a', ''],
    ...[
      'DE89370400440532013000',
      'GB00370400440532013000',
      'DE01370400440532013000',
      'DE9837040044053201300',
    ],
  ];
  const below = generator(11);
  const differences: unknown[] = [];
  for (const pattern of EQUIVALENTS.keys()) {
    // One of them isn't a pattern of JSON Schema, but zod generates it.
    const native = new RegExp(pattern, pattern.includes(')@(') ? '' : 'u');
    const linear = compilePattern(pattern);
    for (const text of texts.flatMap((one) => [one, ...variants(one, below)]))
      if (linear.test(text) !== native.test(text)) differences.push({ pattern, text });
  }
  expect(differences).toEqual([]);
});

/** A text with characters removed, added and exchanged. */
function variants(text: string, below: (limit: number) => number): string[] {
  const letters = [...'aPTYMWDHS.012@,-+😀 \nZ'];
  return Array.from({ length: 60 }, () => {
    const characters = [...text];
    for (let edits = 1 + below(3); edits > 0; edits -= 1)
      characters.splice(
        below(characters.length + 1),
        below(2),
        ...(below(3) > 0 ? [letters[below(23)]!] : []),
      );
    return characters.join('');
  });
}

describe('refused, naming the construct and its place:', () => {
  test.each([
    ['^(?=a)b', 'a look-ahead ((?=, character 2) is not supported'],
    ['a(?!b)', 'a negative look-ahead ((?!, character 2)'],
    ['(?<=a)b', 'a look-behind ((?<=, character 1)'],
    ['(?<!a)b', 'a negative look-behind ((?<!, character 1)'],
    ['(a)\\1', 'a back-reference (\\\\1, character 4)'],
    ['(?<n>a)\\k<n>', 'a back-reference (\\\\k<n>, character 8)'],
    ['a{1001}', 'a repetition of more than 1000 times ({1001}, character 2)'],
    ['a{2,5000}', 'a repetition of more than 1000 times ({2,5000}, character 2)'],
    ['(a', 'expected a regular expression; Invalid regular expression: /(a/u: Unterminated group'],
    ['a{,3}', 'expected a regular expression'],
    ['\\-', 'expected a regular expression'],
    ['\\Z', 'expected a regular expression'],
    ['^mailto:(?!\\.)(?!.*\\.\\.)', 'a negative look-ahead ((?!, character 9)'],
  ])('%s', (pattern, why) => {
    expect(() => checkPattern(pattern)).toThrow(why);
    expect(() => compilePattern(pattern)).toThrow(why);
  });

  test.each([
    ['(?:a{100}){100}', 'invalid repeat count'],
    [`${'(?:a'.repeat(1001)}${')?'.repeat(1001)}`, 'expression nests too deeply'],
  ])('by the engine, as it is compiled: %.20s', (pattern, why) => {
    expect(() => compilePattern(pattern)).toThrow(why);
  });
});

test('a pattern with nested repetitions comes to an end with a text of 1 MiB', () => {
  expect(compilePattern('^(?:(?:a+)+b?)+$').test(`${'a'.repeat(1024 * 1024)}c`)).toBe(false);
});
