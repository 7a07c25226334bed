/** Error and note that name the lines that don't fit the columns. */
import type { CsvGroup } from './csv-beginning.js';
import type { BadRow, CsvScan } from './csv-scan.js';
import { DatasetError } from './errors.js';
import type { LocatedFile } from './locate.js';

export type OnBadRows = 'fail' | 'skip';

/** @throws DatasetError unreadable, when rows don't fit and may not be skipped, or when none fits */
export function assertNoBadRows(
  file: LocatedFile,
  group: CsvGroup,
  scan: CsvScan,
  onBadRows: OnBadRows,
): void {
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

/** The note on lines that were left out. */
export function skippedRows(file: LocatedFile, group: CsvGroup, scan: CsvScan): string {
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
