/** Rows that don't fit the columns: named in an error, or left out of a copy that is read in the file's place. */
import path from 'node:path';
import type { CsvGroup } from './csv-beginning.js';
import { groupOf } from './csv-plan.js';
import type { CsvPlan, OnBadRows } from './csv-plan.js';
import { scanCsv } from './csv-scan.js';
import type { BadRow, CsvScan } from './csv-scan.js';
import { DatasetError } from './errors.js';
import type { DatasetFile, LocatedFile } from './locate.js';

/** Whether DuckDB's message is about how a file splits into rows, and not about a value. */
export function isMisfit(message: string): boolean {
  return /CSV Error on Line|CSV Parser|CSV Reader|unterminated quote|Maximum line size/.test(message);
}

/** @throws DatasetError unreadable, which isMisfit knows, when DuckDB returns other rows than the files have */
export function refuseOtherCount(rowCount: number, plan: CsvPlan, { givenPath }: DatasetFile): void {
  if (rowCount === plan.rowCount) return;
  throw new DatasetError(
    'unreadable',
    `path: ${givenPath} can't be read: the CSV Reader returns ${rowCount} of ${plan.rowCount} rows`,
  );
}

/** @throws DatasetError unreadable, when rows don't fit and may not be skipped, or when none fits */
export function refuseBadRows(file: LocatedFile, group: CsvGroup, scan: CsvScan, onBadRows: OnBadRows): void {
  const { rows, badRows, examples } = scan;
  if (badRows === 0 || (onBadRows === 'skip' && rows > 0)) return;
  const lines = badRows === 1 ? 'a line that does' : `${badRows} lines that do`;
  const hint =
    badRows > rows && examples[0]!.fields !== undefined
      ? 'Most lines differ from the first one: name each column in the header, or remove what stands above it.'
      : 'Fix the file, or leave such lines out with on_bad_rows: "skip".';
  throw new DatasetError(
    'unreadable',
    `path: ${file.name} has ${lines} not fit its ${columnsOf(group)}: ${examplesOf(scan)}. ${hint}`,
  );
}

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
    if (scan.badRows > 0) notes.push(skipped(one, group, scan));
    if (scan.newlines.length > 1)
      notes.push(
        `${one.name} has line ends of several kinds (${scan.newlines.map(nameOf).join(', ')}): each ends a row.`,
      );
  }
  return { paths, notes };
}

function skipped(file: LocatedFile, group: CsvGroup, scan: CsvScan): string {
  const lines = scan.badRows === 1 ? '1 line was' : `${scan.badRows} lines were`;
  return `${lines} skipped in ${file.name} for not fitting its ${columnsOf(group)}: ${examplesOf(scan)}.`;
}

function columnsOf({ names }: CsvGroup): string {
  if (names.length === 1) return 'one column';
  const shown = names.slice(0, 10).map((name) => JSON.stringify(name.slice(0, 50)));
  return `${names.length} columns (${shown.join(', ')}${names.length > shown.length ? ', ...' : ''})`;
}

function examplesOf({ examples, badRows: count }: CsvScan): string {
  const shown = examples.map(({ line, fields, fault, text }: BadRow) => {
    const came = fault ?? `${fields} ${fields === 1 ? 'field' : 'fields'}`;
    return `line ${line} has ${came}: ${JSON.stringify(text)}`;
  });
  return `${shown.join('; ')}${count > shown.length ? `; and ${count - shown.length} more` : ''}`;
}

function nameOf(newline: string): string {
  return { '\n': 'LF', '\r\n': 'CRLF', '\r': 'CR' }[newline] ?? newline;
}
