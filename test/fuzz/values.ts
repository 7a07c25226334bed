/** Values that break assumptions, in place of those of a valid request. */
import { INVALID, treeOf, type Tree } from './json-tree.js';
import type { Random } from '../support/random.js';

/** Numbers as written. None makes a fixture's tool compute for more than a second, or a wait last. */
const NUMBERS = [
  ...['-1', '-0', '0', '0.5', '1e-7', '1e308', '1e999', '-1e999', '9007199254740993', '4294967296'],
  ...['2147483648', '123456789012345678901234567890', '0x10', '01', '.5', '1.', 'NaN', 'Infinity', '-'],
];
const WORDS = ['null', 'true', 'false', 'undefined', '""', '[]', '{}', '[null]', '{"":null}'];

export const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', ''];
const TEXTS = [
  ...['', ' ', '\0', 'a\0b', '\r\n', '\u2028', '\u202e', '\ufeff', '💥', 'é', '\ud800', '\udc00a', INVALID],
  ...['../../etc/passwd', '%00', '%2e%2e%2f', "' OR '1'='1", '" OR ""="', '*', '${7*7}', '{{7*7}}', '<b>'],
  ...[
    '0',
    '-1',
    'NaN',
    'true',
    'null',
    '[object Object]',
    '2026-02-30T25:61:61Z',
    'longhaul://',
    'file:///etc',
  ],
  ...NAMES,
];

export function badText(random: Random): string {
  if (random.chance(0.85)) return random.pick(TEXTS);
  const length = random.weighted([
    [60, 300],
    [30, 1_001],
    [8, 70_000],
    [1, 1_200_000],
    [0.3, 4_300_000],
  ]);
  return random.pick(['a', 'é', '"', '\\', '\n', '[']).repeat(length);
}

export function badTree(random: Random): Tree {
  return random.weighted<() => Tree>([
    [4, () => ({ kind: 'verbatim', text: random.pick(WORDS) })],
    [4, () => ({ kind: 'verbatim', text: random.pick(NUMBERS) })],
    [4, () => ({ kind: 'string', value: badText(random) })],
    [1, () => treeOf([[], {}, 'a', 0])],
    [1, () => ({ kind: 'object', members: [[random.pick(NAMES), treeOf({ a: 1 })]] })],
    [1, () => deep(random)],
    [0.3, () => many(random)],
  ])();
}

/** Nested below and above the limit of 64 levels. */
function deep(random: Random): Tree {
  const levels = random.pick([50, 63, 64, 65, 1_000, 20_000]);
  return random.chance(0.5)
    ? { kind: 'verbatim', text: '['.repeat(levels) + ']'.repeat(levels) }
    : { kind: 'verbatim', text: `${'{"a":'.repeat(levels)}0${'}'.repeat(levels)}` };
}

/** Below and above the limits of 10,000 members and 50,000 values. */
function many(random: Random): Tree {
  const count = random.pick([5_000, 9_990, 10_001, 49_000, 60_000]);
  return {
    kind: 'verbatim',
    text: random.chance(0.5)
      ? `[${Array.from({ length: count }, () => '0').join(',')}]`
      : `{${Array.from({ length: count }, (_, index) => `"${index.toString(36)}":0`).join(',')}}`,
  };
}

/** A sealed value, a token or a cursor that isn't quite the one that the server has made. */
export function tamperedText(random: Random, text: string): string {
  const at = random.below(text.length || 1);
  return random.weighted<() => string>([
    [3, () => text.slice(0, at)],
    [3, () => text.slice(0, at) + flipped(random, text.charCodeAt(at) || 65) + text.slice(at + 1)],
    [1, () => text + text],
    [1, () => text + random.pick(['=', '==', '.', ' ', 'A', '\0'])],
    [1, () => (random.chance(0.5) ? text.toUpperCase() : text.toLowerCase())],
    [1, () => [...text].toReversed().join('')],
    [1, () => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '?'))],
  ])();
}

function flipped(random: Random, code: number): string {
  const other = code ^ (1 << random.below(7));
  return String.fromCharCode(other);
}
