/** Text tables. */
import { escapeControls, escapeLine } from './terminal-text.js';
import { columnsOf, padTo, widthOf } from './text-width.js';

/** Least width of prose in the last column. */
const LEAST_PROSE = 20;
/** Indent of continuation lines when a row is a paragraph. */
const HANGING = '    ';

/**
 * Formats rows with padded columns, and wraps the last one. Too wide rows become paragraphs of their cells.
 *
 * @param width of the whole, in columns. Default: the terminal's; no limit for a file or a pipe
 */
export function textTable(cells: string[][], width = columnsOf('stdout')): string {
  const rows = cells.map((row) => row.map(escapeLine));
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, widthOf(cell))));
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + 2, 0);
  const room = width - before;
  if (!hasEnoughRoom(room, rows, widths.at(-1) ?? 0, width))
    return rows.flatMap((row) => paragraph(row, width)).join('\n');
  return rows
    .flatMap((row) => {
      const [first = '', ...more] = wrapText(row.at(-1) ?? '', room);
      const cells = [...row.slice(0, -1), first].map((cell, column) => padTo(cell, widths[column] ?? 0));
      return [cells.join('  ').trimEnd(), ...more.map((line) => ' '.repeat(before) + line)];
    })
    .join('\n');
}

/** Whether the last column wraps into this width, without a word that fits only into a paragraph. */
function hasEnoughRoom(room: number, rows: string[][], lastWidth: number, width: number): boolean {
  if (room < Math.min(lastWidth, LEAST_PROSE)) return false;
  return rows.every((row) =>
    (row.at(-1) ?? '').split(' ').every((word) => widthOf(word) <= room || widthOf(word) > width),
  );
}

/** Wraps a text between words into lines of at most `room` columns. A longer word gets its own line. */
export function wrapText(text: string, room: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line && widthOf(line) + 1 + widthOf(word) > room) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  return [...lines, line];
}

function paragraph(row: string[], width: number): string[] {
  const [indent] = /^ */.exec(row[0] ?? '')!;
  const hanging = indent + HANGING;
  const lines: string[] = [];
  let line = indent;
  const isEmpty = () => line.trim() === '';
  const add = (text: string, gap: string) => {
    const joined = isEmpty() ? line + text : line + gap + text;
    if (widthOf(joined) <= width) return void (line = joined);
    if (!isEmpty()) lines.push(line);
    // The terminal breaks a word longer than its lines. Without an indent, you can copy it whole.
    line = widthOf(hanging + text) <= width ? hanging + text : text;
  };
  for (const cell of row.map((one) => one.trim()).filter(Boolean)) {
    const isWhole = widthOf(hanging + cell) <= width;
    const [first = '', ...more] = isWhole ? [cell] : cell.split(' ');
    add(first, '  ');
    for (const word of more) add(word, ' ');
  }
  return [...lines, line];
}

/** Text on one line, without anything that a terminal would act upon. */
export function oneLine(text: string): string {
  return escapeControls(text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim());
}
