/** Unicode properties (`\p{...}`) as ranges of code points. */

/** Code points per test. Separates high from low surrogates, so that no two of them form a pair. */
const BLOCK = 0x400;
const CODE_POINTS = 0x110000;

const rangesOf = new Map<string, string>();

/**
 * The code points with a property, as ranges in RE2's syntax. Computed with the running JavaScript engine, in some 50 ms for
 * each property: RE2 knows few properties, and may have another Unicode version.
 *
 * @param property the name within the braces, as ECMAScript has it, e.g. `Script=Greek`
 * @param isNegated for `\P{...}`: the code points without the property
 */
export function propertyRanges(property: string, isNegated = false): string {
  const set = `\\${isNegated ? 'P' : 'p'}{${property}}`;
  const known = rangesOf.get(set);
  if (known !== undefined) return known;
  const runs = new RegExp(`${set}+`, 'gu');
  const ranges: [number, number][] = [];
  for (let start = 0; start < CODE_POINTS; start += BLOCK) {
    const block = String.fromCodePoint(...Array.from({ length: BLOCK }, (_, index) => start + index));
    const unitsEach = start < 0x10000 ? 1 : 2;
    for (const { 0: run, index } of block.matchAll(runs)) {
      const first = start + index / unitsEach;
      const last = first + run.length / unitsEach - 1;
      const before = ranges.at(-1);
      if (before && before[1] === first - 1) before[1] = last;
      else ranges.push([first, last]);
    }
  }
  const text = ranges.map(([first, last]) => `${codePoint(first)}-${codePoint(last)}`).join('');
  rangesOf.set(set, text);
  return text;
}

/** A character in RE2's syntax, valid inside and outside of a class. */
export function codePoint(code: number): string {
  return `\\x{${code.toString(16)}}`;
}
