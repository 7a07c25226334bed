import { createHash } from 'node:crypto';
import { quotedString } from '@duckdb/node-api';
import { checkContent } from './content.js';
import type { OnBadRows } from './csv-bad-rows.js';
import { copyCsv } from './csv-copies.js';
import { isMisfit, planCsv, saferPlan } from './csv-plan.js';
import type { CsvPlan } from './csv-plan.js';
import { csvSource } from './csv-source.js';
import { inferCsvTypes } from './csv-types.js';
import type { CsvTypes } from './csv-types.js';
import { refuseOtherThanUtf8 } from './encoding.js';
import { datasetErrorOf, DatasetError, messageOf } from './errors.js';
import { copyJson } from './json-copies.js';
import { locate } from './locate.js';
import type { DatasetFile } from './locate.js';
import { neverBack } from './progress.js';
import type { OnProgress } from './progress.js';
import type { Column, DatasetQuery } from '../../tools/analyze_dataset.js';
import { withSession } from './session.js';
import { unionNotes } from './unions.js';
import type { DatasetOptions, Session, SessionFiles } from './session.js';

/**
 * CSV and JSON carry no types: DuckDB infers them from the first rows, and a later row may
 * not fit. What was learned about a file is a plain value, so that a caller can hand it from
 * one call to the next: every call then sees the same types, and none learns it again.
 */
export interface Reading {
  /** Columns of a CSV file that are read as text, since not all of their values fit the inferred type. */
  textColumns: string[];
  /** Whether a JSON file's types come from all of its rows. */
  wholeFileTypes: boolean;
  /** How the CSV files split into rows. */
  csv?: CsvPlan;
  csvTypes?: CsvTypes;
  /** On files whose columns differ. */
  unionNotes?: string[];
  /** Which files a pattern matched. */
  filesDigest?: string;
}

export interface Dataset extends Session {
  file: DatasetFile;
  /** What reads the files, to stand in a FROM. */
  source: string;
  /** Names and full types, as DuckDB spells them. */
  columns: Column[];
  reading: Reading;
  notes: string[];
  /** The caller's, but never going back when the work starts over. */
  onProgress: OnProgress;
}

export interface ReadingOptions extends DatasetOptions {
  /** Of an earlier call on the same path; without it the file is looked at first. */
  reading?: Reading;
  /** What to do with lines of a CSV file that don't fit its columns. Default: fail. */
  onBadRows?: OnBadRows;
}

export function readingOptions(
  { on_bad_rows: onBadRows }: DatasetQuery,
  options: ReadingOptions,
): ReadingOptions {
  return { ...options, ...(onBadRows && { onBadRows }) };
}

const AS_INFERRED: Reading = { textColumns: [], wholeFileTypes: false };

/**
 * Opens the file and does `work` on it; when a value turns out not to fit its column's
 * inferred type, does the work again with a type that fits. So `work` may run more than once.
 * @throws DatasetError
 */
export async function withDataset<T>(
  givenPath: string,
  options: ReadingOptions,
  work: (dataset: Dataset) => Promise<T>,
  sessionFiles: Omit<SessionFiles, 'read'> = {},
): Promise<T> {
  const file = await locate(givenPath, options.allowedFolders, options.signal);
  const onProgress = neverBack(options.onProgress.bind(options));
  let reading = options.reading ?? (await firstLook(file, options.signal));
  if (reading.filesDigest !== filesDigestOf(file)) {
    throw new DatasetError(
      'unreadable',
      `path: other files match ${givenPath} than when it was first read; call again`,
    );
  }
  const read = file.files.map(({ realPath }) => realPath);
  for (;;) {
    let readPaths = read;
    try {
      return await withSession({ read, ...sessionFiles }, options, async (session) => {
        readPaths = session.readPaths;
        reading = await withCsv(file, session, reading, options);
        reading = { ...reading, unionNotes: reading.unionNotes ?? (await unionNotes(file, session)) };
        const { paths, notes } = await copiesOf(file, reading, session, options.signal);
        readPaths = paths;
        const source = sourceOf(file, paths, reading);
        const described = await session.run(`DESCRIBE SELECT * FROM ${source}`);
        const columns = described
          .getRows()
          .map(([name, type]) => ({ name: String(name), type: String(type) }));
        const allNotes = [...file.notes, ...notesOn(reading), ...notes];
        return work({ ...session, file, source, columns, reading, notes: allNotes, onProgress });
      });
    } catch (thrown) {
      if (options.signal.aborted) throw options.signal.reason;
      const wider = await widerReading(file, reading, messageOf(thrown), options.signal);
      if (!wider)
        throw datasetErrorOf(
          thrown,
          readPaths,
          givenPath,
          file.files.map(({ name }) => name),
        );
      reading = wider;
    }
  }
}

async function firstLook(file: DatasetFile, signal: AbortSignal): Promise<Reading> {
  for (const one of file.files) await checkContent(one, signal);
  const filesDigest = filesDigestOf(file);
  return { ...AS_INFERRED, ...(filesDigest !== undefined && { filesDigest }) };
}

/** Undefined for a single file, which is found by its name. */
function filesDigestOf({ files, givenPath }: DatasetFile): string | undefined {
  if (files.length === 1 && files[0]!.name === givenPath) return undefined;
  return createHash('sha256')
    .update(files.map(({ name }) => name).join('\0'))
    .digest('base64url');
}

async function withCsv(
  file: DatasetFile,
  session: Session,
  reading: Reading,
  { onBadRows = 'fail', signal }: ReadingOptions,
): Promise<Reading> {
  if (file.format !== 'csv' || reading.csv) return reading;
  const { plan, beginnings } = await planCsv(file, onBadRows, signal);
  return { ...reading, csv: plan, csvTypes: await inferCsvTypes(plan.names, beginnings, session) };
}

async function copiesOf(
  file: DatasetFile,
  reading: Reading,
  { readPaths, scratchFolder }: Session,
  signal: AbortSignal,
): Promise<{ paths: string[]; notes: string[] }> {
  if (reading.csv) return copyCsv(file, reading.csv, readPaths, scratchFolder, signal);
  if (file.format === 'json') return copyJson(file, readPaths, scratchFolder, signal);
  return { paths: readPaths, notes: [] };
}

function sourceOf(file: DatasetFile, paths: string[], reading: Reading): string {
  if (reading.csv) return csvSource(reading.csv, paths, reading.csvTypes, reading.textColumns);
  const list = `[${paths.map(quotedString).join(', ')}]`;
  const byName = paths.length > 1 ? ', union_by_name = true' : '';
  if (file.format === 'parquet') return `read_parquet(${list}, hive_partitioning = false${byName})`;
  const samples = paths.length > 1 ? `, maximum_sample_files = ${paths.length}` : '';
  const wholeFiles = reading.wholeFileTypes ? ', sample_size = -1' : '';
  return `read_json(${list}, hive_partitioning = false${byName}${samples}${wholeFiles})`;
}

/** What to try after a value did not fit, or nothing when the file itself is at fault. */
async function widerReading(
  file: DatasetFile,
  reading: Reading,
  message: string,
  signal: AbortSignal,
): Promise<Reading | undefined> {
  if (/not utf-8 encoded|invalid UTF-8/i.test(message))
    for (const one of file.files) await refuseOtherThanUtf8(one, signal);
  if (reading.csv) {
    const column = /Error when converting column "(.*?)"\. /s.exec(message)?.[1];
    if (column !== undefined && !reading.textColumns.includes(column))
      return { ...reading, textColumns: [...reading.textColumns, column] };
    if (column !== undefined || !isMisfit(message)) return undefined;
    const csv = saferPlan(reading.csv);
    return csv && { ...reading, csv };
  }
  if (file.format === 'json' && !reading.wholeFileTypes && message.includes('JSON transform error')) {
    return { ...reading, wholeFileTypes: true };
  }
  return undefined;
}

function notesOn(reading: Reading): string[] {
  const notes = [
    ...(reading.csv?.notes ?? []),
    ...(reading.csvTypes?.notes ?? []),
    ...(reading.unionNotes ?? []),
  ];
  for (const column of reading.textColumns)
    notes.push(
      `Column ${JSON.stringify(column)} is read as text: not all of its values fit the type of its first ones.`,
    );
  if (reading.wholeFileTypes)
    notes.push('Types come from all rows: a later row did not fit those of the first ones.');
  return notes;
}
