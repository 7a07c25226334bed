/** Pairs of statements in two documents that say nearly the same, but for a number or a negation. */
import { plain } from './passages.js';
import { termsOf } from './search.js';
import type { Citation, Contradiction, Finding } from './types.js';

const MIN_SHARED_TERMS = 3;
const MIN_SHARE = 0.7;
const NEGATION = /\b(not|never|no|cannot|without|isn't|aren't|doesn't|don't|won't|can't|wasn't|weren't)\b/i;

export function contradictionsIn(findings: readonly Finding[]): Contradiction[] {
  const cited = new Map<string, Citation>();
  for (const { claims } of findings)
    for (const { citations } of claims)
      for (const citation of citations) cited.set(`${citation.document}:${citation.fromLine}:${citation.quote}`, citation);
  const all = [...cited.values()];
  return all.flatMap((one, index) =>
    all.slice(index + 1).flatMap((other): Contradiction[] => {
      const about = one.document === other.document ? undefined : difference(one.quote, other.quote);
      return about === undefined ? [] : [{ about, sides: [one, other] }];
    }),
  );
}

/** @returns what two sentences differ in, if they are about the same; else undefined */
function difference(one: string, other: string): string | undefined {
  const [here, there] = [wordsOf(one), wordsOf(other)];
  const shared = here.words.filter((word) => there.words.includes(word));
  const shorter = Math.min(here.words.length, there.words.length);
  const isSame = shared.length >= MIN_SHARED_TERMS && shared.length >= MIN_SHARE * shorter;
  if (!isSame) return undefined;
  const haveNumbers = here.numbers.length > 0 && there.numbers.length > 0;
  const isSubset = (a: string[], b: string[]) => a.every((number) => b.includes(number));
  if (haveNumbers && !isSubset(here.numbers, there.numbers) && !isSubset(there.numbers, here.numbers))
    return `${here.numbers.join(', ')} or ${there.numbers.join(', ')}`;
  return NEGATION.test(one) === NEGATION.test(other) ? undefined : 'one of them denies it';
}

function wordsOf(sentence: string): { words: string[]; numbers: string[] } {
  const terms = termsOf(plain(sentence).replace(/\b\w+n't\b/g, ' ').replace(/(\d)[,.](?=\d)/g, '$1'));
  return {
    words: terms.filter((term) => !/\d/.test(term)),
    numbers: [...new Set(plain(sentence).match(/\d+(?:[.,]\d+)*/g) ?? [])],
  };
}
