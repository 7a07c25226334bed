/** Full-text search over the passages of a folder. */
import MiniSearch from 'minisearch';
import type { Document } from './documents.js';
import { passagesOf, type Passage } from './passages.js';

const STOP_WORDS = new Set(
  'a about after all also an and any are as at be been but by can do does for from had happen happened happens has have how if in into is it its may more most must no not of on one only or other our over own per should so some such than that the their them then there these they this those to under until up use used was we were what when where which while who why will with without would you your'.split(
    ' ',
  ),
);
const MAX_PER_DOCUMENT = 4;

/** Words of a text that carry meaning, in their shortest form, each once. */
export function termsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.map(stem).filter((term) => term !== null))];
}

function stem(word: string): string | null {
  if (word.length < 2 || STOP_WORDS.has(word)) return null;
  const short = word.length < 5 ? word : word.replace(/(ations?|ings?|ed|es|s|e)$/, '');
  // "stop" and "stopped" are one word.
  return short.replace(/([^aeiou\d])\1$/, '$1');
}

export interface Hit extends Passage {
  score: number;
}

export class FolderIndex {
  /** Number of passages that have a term. */
  readonly #frequencies = new Map<string, number>();
  readonly #passages = new Map<string, Passage>();
  readonly #search = new MiniSearch<Passage>({
    fields: ['heading', 'text'],
    processTerm: stem,
    tokenize: (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [],
  });

  private constructor(passages: readonly Passage[]) {
    for (const passage of passages) {
      this.#passages.set(passage.id, passage);
      for (const term of termsOf(passage.text))
        this.#frequencies.set(term, (this.#frequencies.get(term) ?? 0) + 1);
    }
  }

  /** Works in pieces, so that the activity's heartbeats are sent meanwhile. */
  static async of(documents: readonly Document[]): Promise<FolderIndex> {
    const index = new FolderIndex(documents.flatMap(passagesOf));
    await index.#search.addAllAsync([...index.passages], { chunkSize: 500 });
    return index;
  }

  get passages(): IterableIterator<Passage> {
    return this.#passages.values();
  }

  /** The rarer a term is in the folder, the more it says. */
  weightOf(term: string): number {
    return Math.log(1 + this.#passages.size / (this.#frequencies.get(term) ?? 1));
  }

  /** Best passages for some words, best first. @param perDocument at most so many of one document */
  find(query: string, limit: number, perDocument = MAX_PER_DOCUMENT): Hit[] {
    const counts = new Map<string, number>();
    return this.#search
      .search(query, { boost: { heading: 1.5 } })
      .map(({ id, score }) => ({ ...this.#passages.get(String(id))!, score }))
      .sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1))
      .filter(({ document }) => {
        const count = (counts.get(document) ?? 0) + 1;
        counts.set(document, count);
        return count <= perDocument;
      })
      .slice(0, limit);
  }
}
