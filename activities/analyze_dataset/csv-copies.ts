/** Copies of CSV files without the lines that don't fit, read in the files' place. */
import path from 'node:path';
import { refuseBadRows, skippedRows } from './csv-bad-rows.js';
import { groupOf } from './csv-plan.js';
import type { CsvPlan } from './csv-plan.js';
import { scanCsv } from './csv-scan.js';
import type { DatasetFile } from './locate.js';

/**
 * Copies files that DuckDB can't read as they are.
 *
 * @returns the paths to read, and what was left out
 * @throws DatasetError unreadable, when rows don't fit and may not be skipped
 */
export async function copyCsv(
  file: DatasetFile,
  plan: CsvPlan,
  readPaths: readonly string[],
  scratchFolder: string,
  signal: AbortSignal,
): Promise<{ paths: string[]; notes: string[] }> {
  const paths = [...readPaths];
  const notes: string[] = [];
  for (const [index, one] of file.files.entries()) {
    const group = groupOf(plan, index);
    if (!group.copied) continue;
    const copy = path.join(scratchFolder, `copy-${index}.csv`);
    const scan = await scanCsv(one, group, signal, copy);
    refuseBadRows(one, group, scan, plan.onBadRows);
    paths[index] = copy;
    if (scan.badRows > 0) notes.push(skippedRows(one, group, scan));
    if (scan.newlines.length > 1)
      notes.push(
        `${one.name} has line ends of several kinds (${scan.newlines.map(nameOf).join(', ')}): each ends a row.`,
      );
  }
  return { paths, notes };
}

function nameOf(newline: string): string {
  return { '\n': 'LF', '\r\n': 'CRLF', '\r': 'CR' }[newline] ?? newline;
}
