/** Pairs of statements in two documents that say nearly the same, but for a number or a negation. */
import { plain } from './passages.js';
import { termsOf } from './search.js';
import type { Citation, Contradiction, Finding } from './types.js';

const MIN_SHARED_TERMS = 3;
const MIN_SHARE = 0.6;
const NEGATION = /\b(not|never|no|cannot|without|\w+n't)\b/i;

export function contradictionsIn(findings: readonly Finding[]): Contradiction[] {
  const cited = new Map<string, Citation>();
  for (const { claims } of findings)
    for (const { citations } of claims)
      for (const citation of citations)
        cited.set(`${citation.document}:${citation.fromLine}:${citation.quote}`, citation);
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
  const all = here.words.length + there.words.length - shared.length;
  const isSame = shared.length >= MIN_SHARED_TERMS && shared.length >= MIN_SHARE * all;
  if (!isSame) return undefined;
  const haveNumbers = here.numbers.length > 0 && there.numbers.length > 0;
  const isSubset = (a: string[], b: string[]) => a.every((number) => b.includes(number));
  if (haveNumbers && !isSubset(here.numbers, there.numbers) && !isSubset(there.numbers, here.numbers))
    return `${here.numbers.join(', ')} or ${there.numbers.join(', ')}`;
  return NEGATION.test(one) === NEGATION.test(other) ? undefined : 'one of them denies it';
}

function wordsOf(sentence: string): { words: string[]; numbers: string[] } {
  const text = plain(sentence);
  const words = termsOf(text.replace(new RegExp(NEGATION, 'gi'), ' ')).filter((term) => !/\d/.test(term));
  return { words, numbers: [...new Set(text.match(/\d+(?:[.,]\d+)*/g) ?? [])] };
}
