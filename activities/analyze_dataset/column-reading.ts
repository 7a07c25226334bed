/** Descriptions of how columns are read and converted (plain values, passed from call to call), and the SQL for them. */
import { quotedIdentifier, quotedString } from '@duckdb/node-api';
import { isMissing, separatedDate, SPACE } from './kinds.js';
import type { Run } from './session.js';
import type { Column } from '../../tools/analyze_dataset/index.js';

/** From text to the column's type. */
export type Conversion = 'cast' | 'decimal_comma' | 'thousands_comma' | 'day_first' | 'month_first';

export interface ColumnReading {
  name: string;
  /** The column's type, as DuckDB spells it. */
  type: string;
  /** Type in which DuckDB reads it from the file. Default: `type`. */
  readAs?: 'VARCHAR' | 'JSON';
  /** Key in the JSON file, where DuckDB needs another name. Default: `name`. */
  key?: string;
  convert?: Conversion;
  hasSpaces?: true;
  /** Whether words such as NA stand for missing values. */
  hasMissing?: true;
  hasNan?: true;
}

/** SQL that converts the columns of `source`, as the file's reader delivers them, to their types. */
export function convertedSource(source: string, columns: readonly ColumnReading[]): string {
  const replaced = columns.flatMap((column) => {
    const expression = expressionOf(column);
    return expression === undefined ? [] : [`${expression} AS ${quotedIdentifier(column.name)}`];
  });
  return replaced.length === 0 ? source : `(SELECT * REPLACE (${replaced.join(', ')}) FROM ${source})`;
}

function expressionOf({
  name,
  type,
  convert,
  hasSpaces,
  hasMissing,
  hasNan,
}: ColumnReading): string | undefined {
  let value = quotedIdentifier(name);
  if (hasSpaces) value = `trim(${value}, ${SPACE})`;
  if (hasMissing) value = `CASE WHEN ${isMissing(value)} THEN NULL ELSE ${value} END`;
  if (convert) value = converted(value, type, convert);
  // Not nullif: from Parquet's statistics, which leave NaN out, DuckDB concludes that no value equals NaN.
  if (hasNan) value = `CASE WHEN isnan(${value}) THEN NULL ELSE ${value} END`;
  return value === quotedIdentifier(name) ? undefined : value;
}

/** A value that doesn't fit is an error: the file has changed since its types were determined. */
function converted(value: string, type: string, convert: Conversion): string {
  switch (convert) {
    case 'cast':
      return `CAST(${value} AS ${type})`;
    case 'decimal_comma':
      return `CAST(replace(replace(${value}, '.', ''), ',', '.') AS ${type})`;
    case 'thousands_comma':
      return `CAST(replace(${value}, ',', '') AS ${type})`;
    case 'day_first':
    case 'month_first':
      return `CAST(${separatedDate(value, convert)} AS ${type})`;
  }
}

/** Names and full types of a source's columns, as DuckDB spells them. @param values of the parameters in `source` */
export async function describe(run: Run, source: string, values?: string[]): Promise<Column[]> {
  const described = await run(`DESCRIBE SELECT * FROM ${source}`, values);
  return described.getRows().map(([name, type]) => ({ name: String(name), type: String(type) }));
}

/** SQL list of the files' paths. */
export function listOf(paths: readonly string[]): string {
  return `[${paths.map(quotedString).join(', ')}]`;
}

/** SQL to read Parquet files, whose columns are joined by name. */
export function parquetReader(paths: readonly string[]): string {
  const byName = paths.length > 1 ? ', union_by_name = true' : '';
  return `read_parquet(${listOf(paths)}, hive_partitioning = false${byName})`;
}

/**
 * SQL to read a JSON file with these columns. Keys that differ by case only can't be columns of DuckDB's reader: with such
 * a key each row is read whole and taken apart by key.
 *
 * @param files quoted path, or list of paths
 */
export function jsonReader(files: string, columns: readonly ColumnReading[]): string {
  const typed = (type: (column: ColumnReading) => string) =>
    columns.map((column) => `${quotedString(column.name)}: ${quotedString(type(column))}`).join(', ');
  if (columns.every(({ key }) => key === undefined)) {
    // DuckDB reads the whole row into a single column of type JSON; rows that aren't objects are such a column, "json".
    const records = columns.length === 1 && columns[0]!.name === 'json' ? '' : ', records = true';
    return `read_json(${files}, hive_partitioning = false${records}, columns = {${typed(({ type, readAs }) => readAs ?? type)}})`;
  }
  const pointers = columns.map(({ name, key }) => quotedString(`/${pointerPart(key ?? name)}`));
  const selected = columns.map(({ name, type, readAs }, index) => {
    const value = `keyed[${index + 1}]`;
    const read = readAs ?? type;
    const scalar = read === 'VARCHAR' ? `${value} ->> '$'` : `CAST(${value} AS ${read})`;
    return `${read === 'JSON' ? value : scalar} AS ${quotedIdentifier(name)}`;
  });
  const rows = `read_json(${files}, hive_partitioning = false, records = false, columns = {json: 'JSON'})`;
  return `(SELECT ${selected.join(', ')} FROM (SELECT json_extract(json, [${pointers.join(', ')}]) AS keyed FROM ${rows}))`;
}

/** RFC 6901 */
function pointerPart(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
