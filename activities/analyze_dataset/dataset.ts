import { createHash } from 'node:crypto';
import path from 'node:path';
import { convertedSource, jsonReader, listOf, parquetReader } from './column-reading.js';
import type { ColumnReading } from './column-reading.js';
import { checkContent } from './content.js';
import type { OnBadRows } from './csv-bad-rows.js';
import { copyCsv } from './csv-copies.js';
import { groupOf, isRowSplitError, planCsv, assertRowCount, saferPlan } from './csv-plan.js';
import type { CsvPlan } from './csv-plan.js';
import { csvSource } from './csv-source.js';
import { assertUtf8 } from './encoding.js';
import { datasetErrorOf, DatasetError, messageOf } from './errors.js';
import { copyJson } from './json-copies.js';
import { learnCsv, learnJson, learnParquet } from './learn.js';
import type { Learned } from './learn.js';
import { locate } from './locate.js';
import type { DatasetFile } from './locate.js';
import { monotonic } from './progress.js';
import type { OnProgress } from './progress.js';
import type { Column, DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { withSession } from './session.js';
import { unionNotes } from './unions.js';
import type { DatasetOptions, Session, SessionFiles } from './session.js';

/**
 * Rows and types learned from the files: CSV and JSON have no types, and no format says which columns have NaN. A plain value
 * that is passed from call to call: all calls see the same rows and types, and learn them only once.
 */
export interface Reading {
  /** Columns that are text, although most of their values are of another type. */
  textColumns: string[];
  /** Whether types come from all rows. */
  wholeFileTypes: boolean;
  /** Missing in readings that were recorded before types were learned from all values: those are learned again. */
  learned?: Omit<Learned, 'mixed'>;
  /** How the CSV files split into rows. */
  csv?: CsvPlan;
  /** Notes on files whose columns differ. */
  unionNotes?: string[];
  /** Digest of the files that a pattern matched. */
  filesDigest?: string;
}

/** A reading that is complete. */
export type KnownReading = Reading & Required<Pick<Reading, 'learned'>>;

export interface Dataset extends Session {
  file: DatasetFile;
  /** SQL that reads the files, to stand in a FROM. */
  source: string;
  /** Names and full types, as DuckDB spells them. */
  columns: Column[];
  reading: KnownReading;
  notes: string[];
  /** The caller's callback; progress doesn't decrease when the work starts over. */
  onProgress: OnProgress;
}

export interface ReadingOptions extends DatasetOptions {
  /** Reading of an earlier call on the same path. Default: the file is read first. */
  reading?: Reading;
  /** Handling of lines of a CSV file that don't fit its columns. Default: fail. */
  onBadRows?: OnBadRows;
  /** Gets the share of the files that has been read for their types, 0 to 1. */
  onLearned?: (share: number) => void;
}

export function readingOptions(
  { on_bad_rows: onBadRows }: DatasetQuery,
  options: ReadingOptions,
): ReadingOptions {
  return { ...options, ...(onBadRows && { onBadRows }) };
}

/**
 * Opens the files, learns their rows and types unless `options.reading` has them, and does `work` on them. Where DuckDB splits a
 * CSV file into other rows than it has, the work is done again in a safer way: so it may run more than once.
 * @throws DatasetError
 */
export async function withDataset<T>(
  givenPath: string,
  options: ReadingOptions,
  work: (dataset: Dataset) => Promise<T>,
  sessionFiles: Omit<SessionFiles, 'read'> = {},
): Promise<T> {
  const file = await locate(givenPath, options.dataFolders);
  const onProgress = monotonic(options.onProgress.bind(options));
  let reading = options.reading ?? (await firstLook(file));
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
        if (file.format === 'csv' && !reading.csv)
          reading = {
            ...reading,
            csv: await planCsv(file, options.onBadRows ?? 'fail'),
          };
        reading = { ...reading, unionNotes: reading.unionNotes ?? (await unionNotes(file, session)) };
        const { paths, notes } = await copiesOf(file, reading, session);
        readPaths = paths;
        const known = await withTypes(file, paths, reading, session, options);
        reading = known;
        const source = sourceOf(file, paths, known);
        const columns = known.learned.columns.map(({ name, type }) => ({ name, type }));
        const allNotes = [...file.notes, ...notesOn(known), ...notes];
        return work({ ...session, file, source, columns, reading: known, notes: allNotes, onProgress });
      });
    } catch (thrown) {
      const safer = await saferReading(file, reading, messageOf(thrown));
      if (!safer)
        throw datasetErrorOf(
          thrown,
          readPaths,
          givenPath,
          file.files.map(({ name }) => name),
        );
      reading = safer;
    }
  }
}

async function firstLook(file: DatasetFile): Promise<Reading> {
  for (const one of file.files) await checkContent(one);
  const filesDigest = filesDigestOf(file);
  return { textColumns: [], wholeFileTypes: false, ...(filesDigest !== undefined && { filesDigest }) };
}

/** Digest of the matched files; undefined for a single file. */
function filesDigestOf({ files, givenPath }: DatasetFile): string | undefined {
  if (files.length === 1 && files[0]!.name === givenPath) return undefined;
  return createHash('sha256')
    .update(files.map(({ name }) => name).join('\0'))
    .digest('base64url');
}

/** Copies the files that DuckDB can't read as they are. @returns the paths to read, and notes on the copies */
async function copiesOf(
  { files, format }: DatasetFile,
  { csv }: Reading,
  { readPaths, scratchFolder }: Session,
): Promise<{ paths: string[]; notes: string[] }> {
  const paths = [...readPaths];
  const notes: string[] = [];
  if (format === 'parquet') return { paths, notes };
  for (const [index, one] of files.entries()) {
    const target = path.join(scratchFolder, `copy-${index}.${format}`);
    const copied = csv
      ? await copyCsv(one, groupOf(csv, index), csv.onBadRows, target)
      : await copyJson(one, target);
    if (!copied) continue;
    paths[index] = target;
    notes.push(...copied);
  }
  return { paths, notes };
}

async function withTypes(
  file: DatasetFile,
  paths: string[],
  reading: Reading,
  { run }: Session,
  { onLearned = () => undefined }: ReadingOptions,
): Promise<KnownReading> {
  if (reading.learned) return { ...reading, learned: reading.learned };
  const { csv } = reading;
  const { mixed, ...learned } = csv
    ? await learnCsv(run, csvSource(csv, paths), csv.names, onLearned)
    : await (file.format === 'json' ? learnJson : learnParquet)(run, paths, onLearned);
  if (csv) assertRowCount(learned.rowCount, csv, file);
  return { ...reading, textColumns: mixed, wholeFileTypes: true, learned };
}

function sourceOf({ format }: DatasetFile, paths: string[], { csv, learned }: KnownReading): string {
  const { columns } = learned;
  return convertedSource(csv ? csvSource(csv, paths) : readerOf(format, paths, columns), columns);
}

function readerOf(format: DatasetFile['format'], paths: string[], columns: readonly ColumnReading[]): string {
  return format === 'parquet' ? parquetReader(paths) : jsonReader(listOf(paths), columns);
}

/** Reading for another try after DuckDB failed or split a CSV file into other rows; undefined if the file is at fault. */
async function saferReading(
  file: DatasetFile,
  { learned: _learned, ...reading }: Reading,
  message: string,
): Promise<Reading | undefined> {
  if (/not utf-8 encoded|invalid UTF-8/i.test(message)) for (const one of file.files) await assertUtf8(one);
  const csv = reading.csv && isRowSplitError(message) ? saferPlan(reading.csv) : undefined;
  return csv && { ...reading, csv };
}

function notesOn({ csv, unionNotes: ofUnion = [], learned }: KnownReading): string[] {
  return [...(csv?.notes ?? []), ...ofUnion, ...learned.notes];
}
