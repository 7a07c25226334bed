/** Determines the types of a file's columns from all of its values. */
import { quotedIdentifier } from '@duckdb/node-api';
import { describe, jsonReader, listOf, parquetReader } from './column-reading.js';
import type { ColumnReading } from './column-reading.js';
import { messageOf } from './errors.js';
import { guessOf, infinityNote, nanNote } from './guesses.js';
import type { Guess } from './guesses.js';
import { lookAtAll, lookAtSample, SAMPLE_ROWS } from './look.js';
import type { DeliveredColumn, Mixture } from './look.js';
import { keysOf, namesOfParquet, possiblyRenamed } from './names.js';
import type { Run } from './session.js';
import type { Column } from '../../tools/analyze_dataset/index.js';

export interface Learned {
  rowCount: number;
  columns: ColumnReading[];
  notes: string[];
  /** Columns that are text although most of their values would be of another type. */
  mixed: string[];
}

/**
 * Levels of lists and objects that have types; deeper ones are JSON. DuckDB's time for types grows with the cube of the levels, and
 * for a list in a Parquet file, such as the artifact, it doubles with each: 0.6 s for 20 levels.
 */
const MAX_DEPTH = 20;

type OnShare = (share: number) => void;

/**
 * Types of CSV columns: one pass over the file, which also converts every value as it will be read.
 *
 * @param source delivers every column as text, and empty fields without quotes as NULL
 */
export async function learnCsv(
  run: Run,
  source: string,
  names: readonly string[],
  onShare: OnShare,
): Promise<Learned> {
  const columns = names.map((name): DeliveredColumn => ({ column: { name, type: 'VARCHAR' }, from: 'csv' }));
  return learnDelivered(run, source, columns, onShare);
}

/**
 * Types of JSON columns: one pass by DuckDB for the keys and types of all rows, one over the values of columns that are strings,
 * fractions or mixtures.
 *
 * @param paths of the files, whose keys are joined by name
 */
export async function learnJson(run: Run, paths: readonly string[], onShare: OnShare): Promise<Learned> {
  const files = listOf(paths);
  const described = await describeJson(run, files, paths.length);
  const notes: string[] = [];
  let columns = described.map((column): DeliveredColumn => ({ column, ...deliveryOf(column) }));
  if (possiblyRenamed(described.map(({ name }) => name)).length > 0) {
    const keys = await keysOf(
      run,
      files,
      described.map(({ name }) => name),
    );
    notes.push(...keys.notes);
    columns = columns
      .filter(({ column }) => !keys.unused.has(column.name))
      .map((one) => ({
        ...one,
        column: { ...one.column, ...keys.renamed.get(one.column.name) },
      }));
    for (const { name, key } of keys.unread) {
      const column = { name, key, type: 'JSON' };
      columns.push({ column, ...deliveryOf(column) });
    }
  }
  const delivered = columns.map(({ column, from }) => readAs(column, from));
  const learned = await learnDelivered(run, jsonReader(files, delivered), columns, onShare);
  return { ...learned, notes: [...notes, ...learned.notes] };
}

/** Parquet has types; only its floating point columns are read, for NaN and infinite values. */
export async function learnParquet(run: Run, paths: readonly string[], onShare: OnShare): Promise<Learned> {
  const files = listOf(paths);
  const source = parquetReader(paths);
  const described = await describe(run, source);
  const floats = described.filter(({ type }) => type === 'FLOAT' || type === 'DOUBLE');
  const counts = floats.flatMap(({ name }) => {
    const column = quotedIdentifier(name);
    return [`count(*) FILTER (isnan(${column}))`, `count(*) FILTER (isinf(${column}))`];
  });
  const row = (
    await run(`SELECT ${['count(*)', ...counts].join(', ')} FROM ${source}`, undefined, onShare)
  ).getRows()[0]!;
  const notes: string[] = [];
  if (possiblyRenamed(described.map(({ name }) => name)).length > 0) {
    notes.push(
      ...(await namesOfParquet(
        run,
        files,
        described.map(({ name }) => name),
      )),
    );
  }
  const columns = described.map((column): ColumnReading => {
    const index = floats.indexOf(column);
    const [nan, infinite] = index === -1 ? [0, 0] : [Number(row[1 + 2 * index]), Number(row[2 + 2 * index])];
    if (nan > 0) notes.push(nanNote(column.name, nan));
    if (infinite > 0) notes.push(infinityNote(column.name, infinite));
    return { ...column, ...(nan > 0 && { hasNan: true }) };
  });
  return { rowCount: Number(row[0]), columns, notes, mixed: [] };
}

function deliveryOf({ type }: Column): Pick<DeliveredColumn, 'from'> {
  if (type === 'JSON') return { from: 'json_mixture' };
  if (type === 'DOUBLE') return { from: 'json_number' };
  return /^(VARCHAR|DATE|TIME.*|UUID)$/.test(type) && !type.endsWith(']') ? { from: 'json_string' } : {};
}

function readAs(column: ColumnReading, from: DeliveredColumn['from']): ColumnReading {
  if (from === undefined) return column;
  return { ...column, readAs: from === 'json_mixture' ? 'JSON' : 'VARCHAR' };
}

async function learnDelivered(
  run: Run,
  source: string,
  columns: DeliveredColumn[],
  onShare: OnShare,
): Promise<Learned> {
  const sample = await lookAtSample(run, source, columns);
  const whole =
    sample.rowCount < SAMPLE_ROWS ? sample : await lookAtAll(run, source, columns, sample, onShare);
  const guesses = columns.map(({ column, from }): Guess => {
    if (from === undefined) return { column, notes: [] };
    if (from === 'json_mixture') return mixtureOf(column, whole.mixtures.get(column.name)!);
    const guess = guessOf(whole.texts.get(column.name)!);
    return { ...guess, column: { ...guess.column, ...(column.key !== undefined && { key: column.key }) } };
  });
  return {
    rowCount: whole.rowCount,
    columns: guesses.map(({ column }) => column),
    notes: guesses.flatMap(({ notes }) => notes),
    mixed: guesses.flatMap(({ column, isMixed }) => (isMixed ? [column.name] : [])),
  };
}

/** Values of several JSON types: the scalars among them are text without JSON's quotes. */
function mixtureOf(column: ColumnReading, { nested, scalar }: Mixture): Guess {
  if (scalar === 0) return { column: nested === 0 ? { ...column, type: 'VARCHAR' } : column, notes: [] };
  const note =
    `Column ${JSON.stringify(column.name)} is read as text: it mixes ` +
    (nested > 0
      ? 'lists or objects, which stay JSON, with other values.'
      : 'strings, numbers or booleans, so "1" and 1 are the same.');
  return { column: { ...column, type: 'VARCHAR' }, notes: [note], isMixed: true };
}

/**
 * Names and types of all rows. Objects within columns whose keys differ by case only have no type but JSON. Rows with many keys, or
 * rare ones, which DuckDB takes for one map each, have a column for each key.
 */
async function describeJson(run: Run, files: string, count: number): Promise<Column[]> {
  const source = (depth: number, more: string) =>
    `read_json(${files}, hive_partitioning = false, union_by_name = true, sample_size = -1, ` +
    `maximum_sample_files = ${count}, maximum_depth = ${depth}${more})`;
  const describeWith = async (more: string): Promise<Column[]> => {
    try {
      return await describe(run, source(MAX_DEPTH, more));
    } catch (thrown) {
      if (!/Duplicate name/.test(messageOf(thrown))) throw thrown;
      return describe(run, source(1, more));
    }
  };
  const described = await describeWith('');
  const [first] = described;
  const isMap = described.length === 1 && first!.name === 'json' && first!.type.startsWith('MAP(');
  return isMap ? describeWith(', map_inference_threshold = -1') : described;
}
