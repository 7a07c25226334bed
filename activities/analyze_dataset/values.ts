/** Values of answers: as JSON, by the rules in the output schema, and as a text table. */
import { DuckDBTimestampValue, DuckDBTypeId, JsonDuckDBValueConverter } from '@duckdb/node-api';
import type {
  DuckDBMapValue,
  DuckDBResultReader,
  DuckDBTimestampTZValue,
  DuckDBValueConverter,
  Json,
} from '@duckdb/node-api';
import type { Column } from '../../tools/analyze_dataset/index.js';

/** Maximum length of a value in an answer, in characters; longer values are cut, with a note on their length. */
const MAX_VALUE_CHARACTERS = 4096;
const MAX_TYPE_CHARACTERS = 200;
const MAX_TABLE_ROWS = 50;
const MAX_TABLE_COLUMNS = 30;
const MAX_TABLE_CHARACTERS = 8192;
const MAX_CELL_CHARACTERS = 60;

const jsonValue: DuckDBValueConverter<Json> = (value, type, converter) => {
  if (value === null) return null;
  switch (type.typeId) {
    case DuckDBTypeId.BIGINT:
    case DuckDBTypeId.UBIGINT:
    case DuckDBTypeId.HUGEINT:
    case DuckDBTypeId.UHUGEINT:
    case DuckDBTypeId.BIGNUM:
    case DuckDBTypeId.DECIMAL:
      return numberIfExact(String(value));
    case DuckDBTypeId.TIMESTAMP:
    case DuckDBTypeId.TIMESTAMP_S:
    case DuckDBTypeId.TIMESTAMP_MS:
    case DuckDBTypeId.TIMESTAMP_NS:
      return String(value).replace(' ', 'T');
    case DuckDBTypeId.TIMESTAMP_TZ: {
      const utc = String(new DuckDBTimestampValue((value as DuckDBTimestampTZValue).micros));
      return utc.endsWith('infinity') ? utc : `${utc.replace(' ', 'T')}Z`;
    }
    case DuckDBTypeId.MAP: {
      const { keyType, valueType } = type;
      const pairs = (value as DuckDBMapValue).entries.map(({ key, value: of }): [string, Json] => {
        const name = converter(key, keyType, converter);
        return [typeof name === 'string' ? name : JSON.stringify(name), converter(of, valueType, converter)];
      });
      return Object.fromEntries(pairs);
    }
    default:
      return JsonDuckDBValueConverter(value, type, converter);
  }
};

/** A number if a double holds exactly these digits, else the digits as text. */
function numberIfExact(digits: string): number | string {
  const plain = digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits;
  const number = Number(plain);
  return String(number) === plain && (Number.isSafeInteger(number) || plain.includes('.')) ? number : digits;
}

export function columnsOf(reader: DuckDBResultReader): Column[] {
  const type = (index: number) => shortType(String(reader.columnType(index)));
  return reader.columnNames().map((name, index) => ({ name, type: type(index) }));
}

/** Rows with every value cut to a length that an answer can hold. */
export function rowsOf(reader: DuckDBResultReader): Json[][] {
  return reader.convertRows(jsonValue).map((row) => row.map((value) => shortened(value)));
}

/** Nested types spell out every field and can be kilobytes long. */
export function shortType(type: string, characters = MAX_TYPE_CHARACTERS): string {
  return type.length <= characters ? type : `${type.slice(0, characters)}…`;
}

export function shortened(value: Json, characters = MAX_VALUE_CHARACTERS): Json {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= characters) return value;
  return `${text.slice(0, characters)}… (${text.length} characters)`;
}

/**
 * A Markdown table whose columns also line up as plain text, because clients show it as either. It is limited in size, and says what
 * it leaves out; fractions are rounded.
 */
export function textTable(names: readonly string[], rows: readonly Json[][], rowCount: number): string {
  const kept = names.slice(0, MAX_TABLE_COLUMNS);
  const shown = rows
    .slice(0, MAX_TABLE_ROWS)
    .map((row) => kept.map((_, index) => cellOf(row[index] ?? null)));
  const columns = kept.map((name, index) => {
    const cells = [cellOf(name), ...shown.map((row) => row[index]!)];
    const isRight = rows.every((row) => row[index] === null || typeof row[index] === 'number');
    const width = Math.max(3, ...cells.map(({ length }) => length));
    return { width, pad: (text: string) => (isRight ? text.padStart(width) : text.padEnd(width)), isRight };
  });
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => columns[at]!.pad(cell)).join(' | ')} |`;
  const rule = columns.map(({ width, isRight }) =>
    isRight ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  const lines = [line(kept.map((name) => cellOf(name))), `| ${rule.join(' | ')} |`];
  let length = lines.join('\n').length + 100;
  for (const row of shown) {
    length += line(row).length + 1;
    if (length > MAX_TABLE_CHARACTERS) break;
    lines.push(line(row));
  }
  const [rowsShown, left] = [lines.length - 2, [] as string[]];
  if (rowsShown < rowCount) left.push(`${rowsShown} of ${rowCount.toLocaleString('en-US')} rows`);
  if (kept.length < names.length) left.push(`${kept.length} of ${names.length} columns`);
  return [...lines, ...(left.length > 0 ? ['', `(${left.join(', ')})`] : [])].join('\n');
}

function cellOf(value: Json): string {
  if (value === null) return '';
  if (typeof value === 'number') {
    if (Number.isInteger(value)) return String(value);
    const isPlain = Math.abs(value) >= 0.01 && Math.abs(value) < 1e15;
    return isPlain ? value.toFixed(2) : String(Number(value.toPrecision(3)));
  }
  const text = (typeof value === 'string' ? value : JSON.stringify(value))
    .replace(/\s+/g, ' ')
    .replace(/[\\|]/g, '\\$&');
  return text.length <= MAX_CELL_CHARACTERS ? text : `${text.slice(0, MAX_CELL_CHARACTERS - 1)}…`;
}
