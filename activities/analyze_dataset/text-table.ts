import type { Json } from '@duckdb/node-api';

export const MAX_TABLE_ROWS = 50;
export const MAX_TABLE_CHARACTERS = 8192;
const MAX_CELL_CHARACTERS = 60;

/**
 * A Markdown table whose columns also line up as plain text, because clients show it as
 * either. Limited in size, with a note on what is left out; fractions are rounded, the exact
 * values are in the rows.
 */
export function textTable(
  names: readonly string[],
  rows: readonly (readonly Json[])[],
  rowCount: number,
): string {
  const kept = names.slice(0, 30);
  const cells = rows
    .slice(0, MAX_TABLE_ROWS)
    .map((row) => kept.map((_, index) => cellOf(row[index] ?? null)));
  const head = kept.map((name) => cellOf(name));
  const right = kept.map((_, index) =>
    rows.every((row) => row[index] === null || typeof row[index] === 'number'),
  );
  const widths = head.map((name, index) =>
    Math.max(3, name.length, ...cells.map((row) => row[index]!.length)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, index) => (right[index] ? cell.padStart(widths[index]!) : cell.padEnd(widths[index]!))).join(' | ')} |`;
  const rule = `| ${widths.map((width, index) => (right[index] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width))).join(' | ')} |`;

  const lines = [line(head), rule];
  let length = lines.join('\n').length;
  let shown = 0;
  for (const row of cells) {
    const next = line(row);
    if (length + next.length + 100 > MAX_TABLE_CHARACTERS) break;
    lines.push(next);
    length += next.length + 1;
    shown += 1;
  }
  const left: string[] = [];
  if (shown < rowCount) left.push(`${shown} of ${rowCount.toLocaleString('en-US')} rows`);
  if (kept.length < names.length) left.push(`${kept.length} of ${names.length} columns`);
  if (left.length > 0) lines.push('', `(${left.join(', ')})`);
  return lines.join('\n');
}

function cellOf(value: Json): string {
  if (value === null) return '';
  if (typeof value === 'number') return readable(value);
  const text = (typeof value === 'string' ? value : JSON.stringify(value))
    .replace(/\s+/g, ' ')
    .replace(/[\\|]/g, '\\$&');
  return text.length <= MAX_CELL_CHARACTERS ? text : `${text.slice(0, MAX_CELL_CHARACTERS - 1)}…`;
}

function readable(value: number): string {
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return size >= 0.01 && size < 1e15 ? value.toFixed(2) : String(Number(value.toPrecision(3)));
}
