/** Cuts documents into passages (paragraphs, list items, rows of tables), each with its heading and its lines. */
import type { Document } from './documents.js';

export interface Passage {
  /** Document and first line. */
  id: string;
  document: string;
  /** Heading of its section, without `#`. */
  heading: string;
  fromLine: number;
  toLine: number;
  /** Lines of the document as they are. */
  text: string;
  isCode: boolean;
}

const MAX_LINES = 20;
const HEADING = /^#{1,6}\s+(.*?)\s*#*$/;
const FENCE = /^\s*(```|~~~)/;
const OWN_PASSAGE = /^\s*([-*+]|\d+[.)])\s|^\s*\|/;

export function passagesOf({ name, text }: Document): Passage[] {
  const passages: Passage[] = [];
  let heading = name;
  let fence: string | undefined;
  let lines: string[] = [];
  let first = 1;
  const flush = (isCode = false) => {
    const content = lines.join('\n');
    // Rulers of tables have no words.
    if (/[\p{L}\p{N}]/u.test(content)) {
      const toLine = first + lines.length - 1;
      passages.push({
        id: `${name}:${first}`,
        document: name,
        heading,
        fromLine: first,
        toLine,
        text: content,
        isCode,
      });
    }
    lines = [];
  };
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const mark = FENCE.exec(line)?.[1];
    if (fence === undefined && (mark || line.trim() === '' || OWN_PASSAGE.test(line))) flush();
    const title = fence === undefined ? HEADING.exec(line)?.[1] : undefined;
    if (title !== undefined) {
      flush();
      heading = plain(title);
      continue;
    }
    if (lines.length === 0) first = index + 1;
    if (fence !== undefined || line.trim() !== '') lines.push(line);
    if (fence !== undefined && mark === fence) {
      fence = undefined;
      flush(true);
    } else if (mark && fence === undefined) fence = mark;
    if (lines.length >= MAX_LINES) flush(fence !== undefined);
  }
  flush(fence !== undefined);
  return passages;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Sentences of a passage that can stand alone; a row of a table is one. */
export function sentencesOf({ text, isCode }: Passage): string[] {
  if (isCode) return [];
  if (/^\s*\|/.test(text)) return [text.trim()];
  const flat = text.replace(/\s+/g, ' ').trim();
  const sentences = [...segmenter.segment(flat)].map(({ segment }) => segment.trim());
  return sentences.filter((sentence) => /[.!?]["')*_`]*$/.test(sentence) && isBalanced(sentence));
}

/** Whether no bracket is open: full stops in names of files end no sentence. */
function isBalanced(sentence: string): boolean {
  const count = (sign: string) => sentence.split(sign).length;
  return count('(') === count(')') && count('[') === count(']');
}

/** Markdown as plain text in one line: nothing in it is a link, an image or HTML any more. */
export function plain(markdown: string): string {
  return markdown
    .replace(/^\s*([-*+]|\d+[.)]|>|#+)\s+/, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\*\*|__|`/g, '')
    .replace(/^\s*\|\s*|\s*\|\s*$/g, '')
    .replace(/\s+\|\s+/g, '; ')
    .replace(/[<>[\]]/g, ' ')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}
