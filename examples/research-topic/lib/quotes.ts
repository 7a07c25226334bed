/** Finds quotes in documents. A citation counts only if its text is there. */
import { readText } from './documents.js';
import type { Citation, Claim, Contradiction } from './types.js';

/** Shorter ones, such as "the", would be found anywhere. */
const MIN_QUOTE_LETTERS = 12;

/**
 * Lines of a text in which a quote stands. White space counts as one space, so a quote may run over the end of a line.
 *
 * @param from first line of the text, if it is a part of a document
 */
export function locate(
  text: string,
  quote: string,
  from = 1,
): { fromLine: number; toLine: number } | undefined {
  const wanted = flatten(quote);
  if (wanted.replace(/[^\p{L}\p{N}]/gu, '').length < MIN_QUOTE_LETTERS) return undefined;
  let flat = '';
  const lineAt: number[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const piece = flatten(line);
    if (piece === '') continue;
    const added = flat === '' ? piece : ` ${piece}`;
    flat += added;
    for (let count = 0; count < added.length; count += 1) lineAt.push(from + index);
  }
  const at = flat.indexOf(wanted);
  if (at === -1) return undefined;
  return { fromLine: lineAt[at]!, toLine: lineAt[at + wanted.length - 1]! };
}

export function flatten(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Checks citations against the documents as they are now. Reads each document once. */
export class Verifier {
  readonly #texts = new Map<string, Promise<string | undefined>>();

  constructor(private readonly folder: string) {}

  /** @returns the citation, with other lines if its text has moved; undefined if the text isn't there */
  async citation(citation: Citation): Promise<Citation | undefined> {
    const { document, fromLine, toLine, quote } = citation;
    if (!this.#texts.has(document))
      this.#texts.set(
        document,
        readText(this.folder, document).then((read) => ('text' in read ? read.text : undefined)),
      );
    const text = await this.#texts.get(document);
    if (text === undefined) return undefined;
    const lines = text.split('\n').slice(fromLine - 1, toLine);
    const found = locate(lines.join('\n'), quote, fromLine) ?? locate(text, quote);
    return found && { document, ...found, quote };
  }

  /** @returns undefined when a citation isn't there, or there is no citation */
  async claim({ text, citations }: Claim): Promise<Claim | undefined> {
    const found = await Promise.all(citations.map((each) => this.citation(each)));
    const kept = found.filter((each) => each !== undefined);
    return kept.length === citations.length && kept.length > 0 ? { text, citations: kept } : undefined;
  }

  async contradiction({ about, sides }: Contradiction): Promise<Contradiction | undefined> {
    const [one, other] = await Promise.all(sides.map((each) => this.citation(each)));
    return one && other && { about, sides: [one, other] };
  }
}
