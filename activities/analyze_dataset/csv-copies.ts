/** Copies of CSV files without the lines that don't fit. */
import { assertNoBadRows, skippedRows } from './csv-bad-rows.js';
import type { OnBadRows } from './csv-bad-rows.js';
import type { CsvGroup } from './csv-beginning.js';
import { scanCsv } from './csv-scan.js';
import type { LocatedFile } from './locate.js';

/**
 * Copies a file that DuckDB can't read as it is.
 *
 * @param target path of the copy
 * @returns notes on lines that were left out; undefined if no copy is needed
 * @throws DatasetError unreadable, when rows don't fit and may not be skipped
 */
export async function copyCsv(
  file: LocatedFile,
  group: CsvGroup,
  onBadRows: OnBadRows,
  target: string,
): Promise<string[] | undefined> {
  if (!group.copied) return undefined;
  const scan = await scanCsv(file, group, target);
  assertNoBadRows(file, group, scan, onBadRows);
  const notes: string[] = [];
  if (scan.badRows > 0) notes.push(skippedRows(file, group, scan));
  if (scan.newlines.length > 1)
    notes.push(
      `${file.name} has line ends of several kinds (${scan.newlines.map(nameOf).join(', ')}): each ends a row.`,
    );
  return notes;
}

function nameOf(newline: string): string {
  return { '\n': 'LF', '\r\n': 'CRLF', '\r': 'CR' }[newline] ?? newline;
}
