/** Columns of text. */

/**
 * Lines with padded columns, two spaces apart.
 *
 * @param width of the whole; the last column is broken between words to keep to it. Default: no limit
 */
export function textTable(rows: string[][], width = Infinity): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + 2, 0);
  const room = Math.max(20, width - before);
  return rows
    .flatMap((row) => {
      const [first = '', ...more] = broken(row.at(-1) ?? '', room);
      const cells = [...row.slice(0, -1), first].map((cell, column) => cell.padEnd(widths[column] ?? 0));
      return [cells.join('  ').trimEnd(), ...more.map((line) => ' '.repeat(before) + line)];
    })
    .join('\n');
}

/** A text in lines of at most `room` characters, broken between words. */
function broken(text: string, room: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  return [...lines, line];
}

/** Text on one line, without anything that a terminal would act upon. */
export function oneLine(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
}
