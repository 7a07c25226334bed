/** Width of text on a terminal, in columns: wide characters take two. */
import stringWidth from 'fast-string-width';
import type { Output } from '../console.js';

const ELLIPSIS = '…';
const CHARACTERS = new Intl.Segmenter();
/** Default width of a terminal, in columns. */
const USUAL_COLUMNS = 80;

export function widthOf(text: string): number {
  return stringWidth(text);
}

/** Truncates a text to at most `columns` columns, ending with `…`. */
export function truncateTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let [cut, width] = ['', 1];
  for (const { segment } of CHARACTERS.segment(text)) {
    width += widthOf(segment);
    if (width > columns) break;
    cut += segment;
  }
  return columns > 0 ? `${cut}${ELLIPSIS}` : '';
}

export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

/** The terminal's width, or COLUMNS if that is less or the only one known. Infinity for a file or a pipe, which never wraps. */
export function columnsOf(output: Output): number {
  const { isTTY, columns: own } = process[output];
  if (!isTTY) return Infinity;
  const wanted = Number(process.env['COLUMNS']);
  const known = [own, wanted].filter((columns) => columns > 0);
  return known.length ? Math.min(...known) : USUAL_COLUMNS;
}
