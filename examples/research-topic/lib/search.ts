/** Full-text search over the passages of a folder. */
import MiniSearch from 'minisearch';
import type { Document } from './documents.js';
import { passagesOf, type Passage } from './passages.js';

const STOP_WORDS = new Set(
  'a about after all also an and any are as at be been but by can do does for from had has have how if in into is it its may more most must no not of on one only or other our over own per should so some such than that the their them then there these they this those to under until up use used was we were what when where which while who why will with without would you your'.split(
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
  return word.length < 5 ? word : word.replace(/(ations?|ings?|ed|es|s|e)$/, '');
}

export interface Hit extends Passage {
  score: number;
}

export class FolderIndex {
  readonly #passages = new Map<string, Passage>();
  readonly #search = new MiniSearch<Passage>({
    fields: ['heading', 'text'],
    processTerm: stem,
    tokenize: (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [],
  });

  constructor(documents: readonly Document[]) {
    const passages = documents.flatMap(passagesOf);
    for (const passage of passages) this.#passages.set(passage.id, passage);
    this.#search.addAll(passages);
  }

  get passages(): IterableIterator<Passage> {
    return this.#passages.values();
  }

  /** Best passages for some words, at most four of a document, best first. */
  find(query: string, limit: number): Hit[] {
    const perDocument = new Map<string, number>();
    return this.#search
      .search(query, { boost: { heading: 1.5 } })
      .map(({ id, score }) => ({ ...this.#passages.get(String(id))!, score }))
      .sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1))
      .filter(({ document }) => {
        const count = (perDocument.get(document) ?? 0) + 1;
        perDocument.set(document, count);
        return count <= MAX_PER_DOCUMENT;
      })
      .slice(0, limit);
  }
}
