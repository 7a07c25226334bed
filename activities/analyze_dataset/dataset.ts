/** Opens the files of a dataset, and learns once, for all calls, how they are read. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { quotedIdentifier, quotedString } from '@duckdb/node-api';
import type { Column, DatasetQuery } from '../../tools/analyze_dataset/index.js';
import type { DataFolders } from '../../platform/storage/data-folders.js';
import { deliveredByCsv, deliveredByJson, nanNote, typed, withGivenTypes, withoutNan } from './columns.js';
import type { ColumnReading } from './columns.js';
import { csvSource, planCsv, rejectedRows, type CsvPlan } from './csv.js';
import { datasetErrorOf, messageOf, unreadable } from './errors.js';
import { withSession, type Run, type SessionOptions } from './session.js';
import { contentOf, copyAsUtf8, locate, type DatasetFormat, type Readable } from './sources.js';

/** How the files are read. A plain value that is passed from call to call: all calls see the same rows and types. */
export interface Reading {
  format: DatasetFormat;
  rowCount: number;
  columns: ColumnReading[];
  csv?: CsvPlan;
  encoding?: string;
  notes: string[];
  /** Digest of names and sizes of the files. */
  filesDigest: string;
}

export interface Dataset {
  run: Run;
  /** SQL that reads the files, to stand in a FROM. */
  source: string;
  reading: Reading;
  /** Total size of all files on disk. */
  bytes: number;
}

/** Gets the finished share of a call, 0 to 1, about four times a second while a query runs. It never goes back within a call. */
export type OnProgress = (share: number, message: string) => void;

export interface ReadingOptions extends SessionOptions {
  onProgress: OnProgress;
  dataFolders: DataFolders;
  /** Reading of an earlier call on the same path. Default: the files are read first, as `given` says. */
  reading?: Reading;
  given?: Partial<DatasetQuery>;
}

/**
 * Levels of lists and objects that have types; deeper ones are text. DuckDB's time for types grows with the cube of the levels, and
 * for a list in a Parquet file, such as the artifact, it doubles with each: 0.6 s for 20 levels.
 */
const MAX_DEPTH = 20;
const MAX_NOTES = 50;
const NOT_FOR: Record<DatasetFormat, (keyof DatasetQuery)[]> = {
  csv: [],
  json: ['delimiter', 'header', 'null_values'],
  parquet: ['delimiter', 'header', 'null_values', 'encoding', 'types', 'date_format'],
};

/** Opens the files and does `work` on them. */
export async function withDataset<T>(
  givenPath: string,
  { dataFolders, tempFolder, keepsFileOrder, reading: earlier, given = {} }: ReadingOptions,
  work: (dataset: Dataset) => Promise<T>,
): Promise<T> {
  const names = new Map<string, string>();
  try {
    const found = await locate(givenPath, dataFolders);
    const content = JSON.stringify(found.files.map(({ name, bytes }) => [name, bytes]));
    const filesDigest = createHash('sha256').update(content).digest('base64url');
    if (earlier && earlier.filesDigest !== filesDigest)
      throw unreadable(
        `path: ${givenPath} has changed or matches other files since it was first read; call again`,
      );
    const realPaths = found.files.map(({ realPath }) => realPath);
    return await withSession(realPaths, { tempFolder, keepsFileOrder }, async ({ readPaths, run }) => {
      const encoding = earlier?.encoding ?? given.encoding;
      const notes = [...found.notes];
      const files: Readable[] = [];
      for (const [index, { name }] of found.files.entries()) {
        const original = { name, realPath: readPaths[index]! };
        const copy = { name, realPath: path.join(tempFolder, `copy-${index}.${found.format}`) };
        for (const { realPath } of [original, copy]) names.set(realPath, name);
        const copied = found.format !== 'parquet' && (await copyAsUtf8(original, encoding, copy.realPath));
        if (copied) notes.push(`${name} is read as ${copied}.`);
        files.push(copied ? copy : original);
      }
      let reading = earlier;
      if (!reading) {
        const unused = NOT_FOR[found.format].find((name) => given[name] !== undefined);
        if (unused) throw unreadable(`${unused}: has no meaning for ${found.format}, which ${givenPath} is`);
        const { rowCount, columns, csv, notes: more } = await LEARN[found.format](files, run, given);
        notes.push(...more);
        if (notes.length > MAX_NOTES)
          notes.splice(MAX_NOTES, Infinity, `${notes.length - MAX_NOTES} more notes were left out.`);
        reading = { format: found.format, rowCount, columns, csv, encoding, notes, filesDigest };
      }
      const values = reading.columns.map(({ name, value }) => `${value} AS ${quotedIdentifier(name)}`);
      const source = `(SELECT ${values.join(', ')} FROM ${readerOf(reading, files)})`;
      const bytes = found.files.reduce((sum, file) => sum + file.bytes, 0);
      return work({ run, source, reading, bytes });
    });
  } catch (thrown) {
    throw datasetErrorOf(thrown, names, givenPath);
  }
}

type Learned = Pick<Reading, 'rowCount' | 'columns' | 'csv' | 'notes'>;
type Learn = (files: readonly Readable[], run: Run, given: Partial<DatasetQuery>) => Promise<Learned>;

const learnCsv: Learn = async (files, run, given) => {
  const { plan: csv, notes } = await planCsv(files, given, run);
  const source = csvSource(csv, files, 'store_rejects');
  const columns = (await describe(run, csvSource(csv, files))).map(({ name }) => deliveredByCsv(name));
  const found = await typed(run, withGivenTypes(columns, given), source, given);
  const rejected = csv.skipsBadRows ? await rejectedRows(run, files) : { count: 0, notes: [] };
  const rowCount = found.rowCount + rejected.count;
  if (rowCount !== csv.recordCount)
    throw unreadable(
      `path: ${files[0]!.name} can't be read exactly: DuckDB finds ${rowCount} of ${csv.recordCount} rows. Quotes within values have to ` +
        'be doubled, and all lines have to end alike',
    );
  return { ...found, csv, notes: [...notes, ...rejected.notes, ...found.notes] };
};

const learnJson: Learn = async (files, run, given) => {
  // DuckDB takes a gzip file that is cut off for a whole one. Of CSV files, the rows are counted.
  for (const file of files) if (file.realPath.endsWith('.gz')) for await (const _ of contentOf(file));
  const describeAll = (depth: number, more: string) => {
    const options = `hive_partitioning = false, union_by_name = true, sample_size = -1, maximum_sample_files = ${files.length}`;
    return describe(run, `read_json(${listOf(files)}, ${options}, maximum_depth = ${depth}${more})`);
  };
  // Within a column, objects whose keys differ by case only have no type but JSON.
  const describeTyped = (more = '') =>
    describeAll(MAX_DEPTH, more).catch((thrown: unknown) => {
      if (!messageOf(thrown).includes('Duplicate name')) throw thrown;
      return describeAll(1, more);
    });
  let described = await describeTyped();
  // DuckDB takes rows of 200 keys, or of rare ones, for one map each.
  if (described.length === 1 && described[0]!.name === 'json' && described[0]!.type.startsWith('MAP('))
    described = await describeTyped(', map_inference_threshold = -1');
  const delivered = withGivenTypes(described.map(deliveredByJson), given);
  const asText = delivered.map(({ name }) => ({ name, read: 'VARCHAR' }));
  const found = await typed(run, delivered, jsonReader(files, asText), given);
  const twin = described.find(({ name, type }) => type !== 'JSON' && found.empty.includes(name));
  if (twin)
    throw unreadable(
      `path: ${files[0]!.name} has keys that differ by case only, which DuckDB can't distinguish: ${JSON.stringify(twin.name)} has no values. Rename one`,
    );
  if (!described.some(({ type }) => type.includes('DOUBLE'))) return found;
  // DuckDB's parser cuts them, whatever the type.
  const long = '[:,[]\\s*(-?[1-9][0-9]{15,}|-?[0.]*[1-9][0-9.]{18,})\\s*[],}]';
  const [number] = await firstOf(
    run,
    `regexp_extract(json, '${long}', 1) AS n FROM read_json_objects(${listOf(files)}) WHERE n <> '' LIMIT 1`,
  );
  if (number === undefined) return found;
  const note = `Numbers of many digits, such as ${number}, may be cut to the 15 to 17 that DOUBLE keeps, unless their column is text. As strings they would be kept.`;
  return { ...found, notes: [...found.notes, note] };
};

const learnParquet: Learn = async (files, run) => {
  const fields = (which: string) =>
    firstOf(run, `DISTINCT name FROM parquet_schema(${listOf(files)}) ${which} ORDER BY name`);
  const [long] = await fields('WHERE precision > 38');
  if (long !== undefined)
    throw unreadable(
      `path: ${JSON.stringify(long)} has decimals of more than 38 digits, which DuckDB doesn't read exactly; write text`,
    );
  const cut = await fields(`WHERE logical_type LIKE 'Time%NanoSeconds()%' AND duckdb_type NOT LIKE '%NS'`);
  const several =
    files.length > 1 ? await fields('GROUP BY name HAVING count(DISTINCT duckdb_type) > 1') : [];
  const source = parquetReader(files);
  const described = await describe(run, source);
  const nans = described.map(({ name, type }) =>
    /^(FLOAT|DOUBLE)$/.test(type) ? `count(*) FILTER (isnan(${quotedIdentifier(name)}))` : '0',
  );
  const counted = await run(`SELECT ${['count(*)', ...nans].join(', ')} FROM ${source}`);
  const [rowCount = 0, ...nanCounts] = counted.getRows()[0]!.map(Number);
  const columns = described.map(({ name, type }, index) => {
    const column = quotedIdentifier(name);
    return { name, type, read: type, value: nanCounts[index]! > 0 ? withoutNan(column) : column };
  });
  const notes = [
    ...cut.map((name) => `Times of ${JSON.stringify(name)} are cut to microseconds.`),
    ...several.map(
      (name) => `${JSON.stringify(name)} has several types in the files, and is read as one for all.`,
    ),
    ...columns.flatMap(({ name }, index) =>
      nanCounts[index]! > 0 ? [nanNote(name, nanCounts[index]!)] : [],
    ),
  ];
  return { rowCount, columns, notes };
};

const LEARN: Record<DatasetFormat, Learn> = { csv: learnCsv, json: learnJson, parquet: learnParquet };

function readerOf({ csv, format, columns }: Reading, files: readonly Readable[]): string {
  if (csv) return csvSource(csv, files);
  return format === 'json' ? jsonReader(files, columns) : parquetReader(files);
}

function jsonReader(files: readonly Readable[], columns: readonly { name: string; read: string }[]): string {
  const typed = columns.map(({ name, read }) => `${quotedString(name)}: ${quotedString(read)}`);
  // Rows that aren't objects are a single column, "json".
  const records = columns.length === 1 && columns[0]!.name === 'json' ? '' : ', records = true';
  return `read_json(${listOf(files)}, hive_partitioning = false${records}, columns = {${typed.join(', ')}})`;
}

function parquetReader(files: readonly Readable[]): string {
  return `read_parquet(${listOf(files)}, hive_partitioning = false, union_by_name = ${files.length > 1})`;
}

const listOf = (files: readonly Readable[]) =>
  `[${files.map(({ realPath }) => quotedString(realPath)).join(', ')}]`;

async function describe(run: Run, source: string): Promise<Column[]> {
  const described = await run(`DESCRIBE SELECT * FROM ${source}`);
  return described.getRows().map(([name, type]) => ({ name: String(name), type: String(type) }));
}

/** The first column of a SELECT, as texts. */
async function firstOf(run: Run, select: string): Promise<string[]> {
  return (await run(`SELECT ${select}`)).getRows().map(([value]) => String(value));
}
