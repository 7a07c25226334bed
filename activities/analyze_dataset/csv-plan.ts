/** Determines how CSV files split into rows: decided by their beginnings, then checked on every record. */
import { assertNoBadRows } from './csv-bad-rows.js';
import type { OnBadRows } from './csv-bad-rows.js';
import { readBeginning } from './csv-beginning.js';
import type { CsvBeginning, CsvGroup } from './csv-beginning.js';
import { scanCsv } from './csv-scan.js';
import { DatasetError } from './errors.js';
import type { DatasetFile } from './locate.js';
import { limitNotes } from './notes.js';
import { missingColumnNotes } from './unions.js';

/** How CSV files split into rows. A plain value, passed from call to call. */
export interface CsvPlan {
  /** Consecutive files that are read in the same way. */
  groups: CsvGroup[];
  /** Columns of all files. */
  names: string[];
  onBadRows: OnBadRows;
  /** Rows of all files, counted without DuckDB. */
  rowCount: number;
  /** Set where values have line ends: DuckDB's parallel reader, which has only texts, may take a line within quotes for a row. */
  isSequential?: true;
  notes: string[];
}

const SAMPLE_BYTES = 4 * 1024 ** 2;
const MIN_SAMPLE_BYTES = 64 * 1024;
const MAX_NOTES = 12;

/**
 * Reads all files once, and their beginnings twice.
 *
 * @throws DatasetError unreadable, naming the lines that don't fit
 */
export async function planCsv(file: DatasetFile, onBadRows: OnBadRows): Promise<CsvPlan> {
  const beginnings: CsvBeginning[] = [];
  const share = file.files.length;
  let rowCount = 0;
  let isSequential = false;
  for (const one of file.files) {
    const beginning = await readBeginning(one, Math.max(MIN_SAMPLE_BYTES, SAMPLE_BYTES / share));
    const { group } = beginning;
    const scan = await scanCsv(one, group);
    assertNoBadRows(one, group, scan, onBadRows);
    if (scan.badRows > 0 || scan.newlines.length > 1) group.copied = true;
    if (scan.blankRows > 0)
      beginning.notes.push(
        `${scan.blankRows === 1 ? '1 blank line is a row' : `${scan.blankRows} blank lines are rows`} without a value, since the file has one column.`,
      );
    rowCount += scan.rows;
    isSequential ||= scan.hasQuotedLineEnds;
    beginnings.push(beginning);
  }
  const spelled = new Map<string, string>();
  for (const { group } of beginnings) {
    group.names = group.names.map((name) => {
      const folded = name.toLowerCase();
      if (!spelled.has(folded)) spelled.set(folded, name);
      return spelled.get(folded)!;
    });
  }
  const names = [...spelled.values()];
  const notes = beginnings.flatMap((beginning, index) =>
    beginning.notes.map((note) => (share === 1 ? note : `${file.files[index]!.name}: ${note}`)),
  );
  notes.push(
    ...missingColumnNotes(
      beginnings.map(({ group }) => group.names),
      file.files.map(({ name }) => name),
    ),
  );
  return {
    groups: grouped(beginnings.map(({ group }) => group)),
    names,
    onBadRows,
    rowCount,
    ...(isSequential && { isSequential }),
    notes: limitNotes(notes, MAX_NOTES, 'notes on other files'),
  };
}

/** Group of each file, by its index. */
export function groupOf(plan: CsvPlan, index: number): CsvGroup {
  let left = index;
  return plan.groups.find(({ files }) => (left -= files) < 0)!;
}

/** Whether DuckDB's message is about how a file splits into rows, and not about a value. */
export function isRowSplitError(message: string): boolean {
  return /CSV Error on Line|CSV Parser|CSV Reader|unterminated quote|Maximum line size/.test(message);
}

/** @throws DatasetError unreadable, which isRowSplitError matches, if DuckDB returns other rows than the files have */
export function assertRowCount(rowCount: number, plan: CsvPlan, { givenPath }: DatasetFile): void {
  if (rowCount === plan.rowCount) return;
  throw new DatasetError(
    'unreadable',
    `path: ${givenPath} can't be read: the CSV Reader returns ${rowCount} of ${plan.rowCount} rows`,
  );
}

/**
 * The plan with which to read again after DuckDB's parallel reader failed or returned other rows than the file has;
 * undefined when nothing is left to try.
 */
export function saferPlan(plan: CsvPlan): CsvPlan | undefined {
  if (!plan.isSequential) return { ...plan, isSequential: true };
  if (plan.groups.every(({ copied }) => copied)) return undefined;
  return { ...plan, groups: plan.groups.map((group) => ({ ...group, copied: true })) };
}

function grouped(groups: readonly CsvGroup[]): CsvGroup[] {
  const key = ({ files: _, ...rest }: CsvGroup) => JSON.stringify(rest);
  const merged: CsvGroup[] = [];
  for (const group of groups) {
    const last = merged.at(-1);
    if (last && key(last) === key(group)) last.files += group.files;
    else merged.push({ ...group });
  }
  return merged;
}
