/** Opens the files of a dataset, and learns once, for all calls, how they are read. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { quotedIdentifier, quotedString } from '@duckdb/node-api';
import type { Column, DatasetQuery } from '../../tools/analyze_dataset/index.js';
import {
  convertedSource,
  deliveredByCsv,
  deliveredByJson,
  nanNote,
  typed,
  withGivenTypes,
} from './columns.js';
import type { ColumnReading } from './columns.js';
import { csvSource, planCsv, rejectedRows, type CsvPlan } from './csv.js';
import { datasetErrorOf, messageOf, unreadable } from './errors.js';
import { withSession } from './session.js';
import type { DatasetOptions, Run, Session, SessionFiles } from './session.js';
import { contentOf, copyAsUtf8, locate, type DatasetFile, type Readable } from './sources.js';

/** How the files are read. A plain value that is passed from call to call: all calls see the same rows and types. */
export interface Reading {
  rowCount: number;
  columns: ColumnReading[];
  csv?: CsvPlan;
  encoding?: string;
  notes: string[];
  /** Digest of names and sizes of the files. */
  filesDigest: string;
}

export interface Dataset extends Session {
  file: DatasetFile;
  /** SQL that reads the files, to stand in a FROM. */
  source: string;
  reading: Reading;
}

export interface ReadingOptions extends DatasetOptions {
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
const ONLY_CSV = ['delimiter', 'header', 'null_values'] as const;
const NOT_PARQUET = ['encoding', 'types', 'date_format'] as const;

/** Opens the files and does `work` on them. */
export async function withDataset<T>(
  givenPath: string,
  options: ReadingOptions,
  work: (dataset: Dataset) => Promise<T>,
  sessionFiles: Omit<SessionFiles, 'read'> = {},
): Promise<T> {
  const { given = {} } = options;
  const file = await locate(givenPath, options.dataFolders);
  const names = new Map<string, string>();
  const content = JSON.stringify(file.files.map(({ name, bytes }) => [name, bytes]));
  const filesDigest = createHash('sha256').update(content).digest('base64url');
  if (options.reading && options.reading.filesDigest !== filesDigest)
    throw unreadable(
      `path: ${givenPath} has changed or matches other files since it was first read; call again`,
    );
  try {
    const read = file.files.map(({ realPath }) => realPath);
    return await withSession({ read, ...sessionFiles }, options, async (session) => {
      const encoding = options.reading?.encoding ?? given.encoding;
      const copies: string[] = [];
      const files: Readable[] = [];
      for (const [index, { name }] of file.files.entries()) {
        const original = { name, realPath: session.readPaths[index]! };
        const copy = { name, realPath: path.join(session.scratchFolder, `copy-${index}.${file.format}`) };
        for (const { realPath } of [original, copy]) names.set(realPath, name);
        const isText = file.format !== 'parquet';
        const copied = isText ? await copyAsUtf8(original, encoding, copy.realPath) : undefined;
        if (copied !== undefined) copies.push(`${name} is read as ${copied}.`);
        files.push(copied === undefined ? original : copy);
      }
      let { reading } = options;
      if (!reading) {
        const { rowCount, columns, csv, notes } = await learn(file, files, session.run, given);
        const all = [...file.notes, ...copies, ...notes];
        const more = all.length > MAX_NOTES ? [`${all.length - MAX_NOTES} more notes were left out.`] : [];
        const shown = [...all.slice(0, MAX_NOTES), ...more];
        reading = { rowCount, columns, csv, encoding, notes: shown, filesDigest };
      }
      const source = convertedSource(readerOf(file, pathsOf(files), reading), reading.columns);
      return work({ ...session, file, source, reading });
    });
  } catch (thrown) {
    throw datasetErrorOf(thrown, names, givenPath);
  }
}

type Learned = Pick<Reading, 'rowCount' | 'columns' | 'csv' | 'notes'>;

async function learn(
  { format, givenPath }: DatasetFile,
  files: readonly Readable[],
  run: Run,
  given: Partial<DatasetQuery>,
): Promise<Learned> {
  const foreign = [...(format === 'csv' ? [] : ONLY_CSV), ...(format === 'parquet' ? NOT_PARQUET : [])];
  const unused = foreign.find((name) => given[name] !== undefined);
  if (unused) throw unreadable(`${unused}: has no meaning for ${format}, which ${givenPath} is`);
  const learnFormat = { csv: learnCsv, json: learnJson, parquet: learnParquet }[format];
  return learnFormat(files, run, given);
}

type Learn = (files: readonly Readable[], run: Run, given: Partial<DatasetQuery>) => Promise<Learned>;

const learnCsv: Learn = async (files, run, given) => {
  const { plan: csv, sniffed, notes } = await planCsv(files, given, run);
  const paths = pathsOf(files);
  const source = csvSource(csv, paths);
  const names = (await run(`SELECT * FROM ${source} LIMIT 0`)).columnNames();
  const delivered = names.map((name) => deliveredByCsv(name, sniffed.get(name.toLowerCase()) ?? [], given));
  const sources = { source, whole: csvSource(csv, paths, 'store_rejects') };
  const found = await typed(run, withGivenTypes(delivered, given), sources, given);
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
  const list = listOf(pathsOf(files));
  const describeAll = (depth: number, more: string) => {
    const options = `hive_partitioning = false, union_by_name = true, sample_size = -1, maximum_sample_files = ${files.length}`;
    return describe(run, `read_json(${list}, ${options}, maximum_depth = ${depth}${more})`);
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
  const delivered = withGivenTypes(
    described.map((column) => deliveredByJson(column, given)),
    given,
  );
  const found = await typed(run, delivered, { source: jsonReader(list, delivered) }, given);
  const twin = described.find(({ name, type }) => type !== 'JSON' && found.empty.includes(name));
  if (twin)
    throw unreadable(
      `path: ${files[0]!.name} has keys that differ by case only, which DuckDB can't distinguish: ${JSON.stringify(twin.name)} has no values. Rename one`,
    );
  if (!described.some(({ type }) => type.includes('DOUBLE'))) return found;
  // DuckDB's parser cuts them, whatever the type.
  const long = '[:,[]\\s*(-?[1-9][0-9]{15,}|-?[0.]*[1-9][0-9.]{18,})\\s*[],}]';
  const numbers = await run(
    `SELECT regexp_extract(json, '${long}', 1) AS n FROM read_json_objects(${list}) WHERE n <> '' LIMIT 1`,
  );
  const cut = numbers
    .getRows()
    .map(
      ([number]) =>
        `Numbers of many digits, such as ${String(number)}, may be cut to the 15 to 17 that DOUBLE keeps, unless their column is text. ` +
        'As strings they would be kept.',
    );
  return { ...found, notes: [...found.notes, ...cut] };
};

const learnParquet: Learn = async (files, run) => {
  const paths = pathsOf(files);
  const fields = async (which: string) => {
    const found = await run(
      `SELECT DISTINCT name FROM parquet_schema(${listOf(paths)}) ${which} ORDER BY name`,
    );
    return found.getRows().map(([name]) => String(name));
  };
  const [long] = await fields('WHERE precision > 38');
  if (long !== undefined)
    throw unreadable(
      `path: ${JSON.stringify(long)} has decimals of more than 38 digits, which DuckDB doesn't read exactly; write text`,
    );
  const cut = await fields(`WHERE logical_type LIKE 'Time%NanoSeconds()%' AND duckdb_type NOT LIKE '%NS'`);
  const several =
    files.length > 1 ? await fields('GROUP BY name HAVING count(DISTINCT duckdb_type) > 1') : [];
  const described = await describe(run, parquetReader(paths));
  const floats = described.filter(({ type }) => /^(FLOAT|DOUBLE)$/.test(type)).map(({ name }) => name);
  const nans = floats.map((name) => `count(*) FILTER (isnan(${quotedIdentifier(name)}))`);
  const counted = await run(`SELECT ${['count(*)', ...nans].join(', ')} FROM ${parquetReader(paths)}`);
  const [rowCount = 0, ...counts] = counted.getRows()[0]!.map(Number);
  const nan = (name: string) => counts[floats.indexOf(name)] ?? 0;
  const columns = described.map(({ name, type }): ColumnReading => {
    return { name, type, read: type, ...(nan(name) > 0 && { hasNan: true as const }) };
  });
  const notes = [
    ...cut.map((name) => `Times of ${JSON.stringify(name)} are cut to microseconds.`),
    ...several.map(
      (name) => `${JSON.stringify(name)} has several types in the files, and is read as one for all.`,
    ),
    ...floats.filter((name) => nan(name) > 0).map((name) => nanNote(name, nan(name))),
  ];
  return { rowCount, columns, notes };
};

function readerOf({ format }: DatasetFile, paths: readonly string[], { csv, columns }: Reading): string {
  if (csv) return csvSource(csv, paths);
  return format === 'json' ? jsonReader(listOf(paths), columns) : parquetReader(paths);
}

/** SQL to read JSON files with these columns. @param list SQL list of their paths */
function jsonReader(list: string, columns: readonly { name: string; read: string }[]): string {
  const typed = columns.map(({ name, read }) => `${quotedString(name)}: ${quotedString(read)}`);
  // Rows that aren't objects are a single column, "json".
  const records = columns.length === 1 && columns[0]!.name === 'json' ? '' : ', records = true';
  return `read_json(${list}, hive_partitioning = false${records}, columns = {${typed.join(', ')}})`;
}

function parquetReader(paths: readonly string[]): string {
  return `read_parquet(${listOf(paths)}, hive_partitioning = false, union_by_name = ${paths.length > 1})`;
}

async function describe(run: Run, source: string): Promise<Column[]> {
  const described = await run(`DESCRIBE SELECT * FROM ${source}`);
  return described.getRows().map(([name, type]) => ({ name: String(name), type: String(type) }));
}

const pathsOf = (files: readonly Readable[]) => files.map(({ realPath }) => realPath);
const listOf = (paths: readonly string[]) => `[${paths.map(quotedString).join(', ')}]`;
