import { DuckDBTimestampValue, DuckDBTypeId, JsonDuckDBValueConverter } from '@duckdb/node-api';
import type {
  DuckDBResultReader,
  DuckDBTimestampTZValue,
  DuckDBValueConverter,
  Json,
} from '@duckdb/node-api';
import type { Column } from '../../tools/analyze_dataset/index.js';

/** Maximum length of a value in an answer, in characters; longer values are cut, with a note on their length. */
const MAX_VALUE_CHARACTERS = 4096;
const MAX_TYPE_CHARACTERS = 200;

/** Converts values of a result to JSON, by the rules in the output schema. */
export const jsonValue: DuckDBValueConverter<Json> = (value, type, converter) => {
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
    case DuckDBTypeId.TIMESTAMP_TZ:
      return utc(String(new DuckDBTimestampValue((value as DuckDBTimestampTZValue).micros)));
    default:
      return JsonDuckDBValueConverter(value, type, converter);
  }
};

export function columnsOf(reader: DuckDBResultReader): Column[] {
  return reader
    .columnNames()
    .map((name, index) => ({ name, type: shortType(String(reader.columnType(index))) }));
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

/** A number if a double holds exactly these digits, else the digits as text. */
function numberIfExact(digits: string): number | string {
  const plain = digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits;
  const number = Number(plain);
  return String(number) === plain && (Number.isSafeInteger(number) || plain.includes('.')) ? number : digits;
}

function utc(timestamp: string): string {
  return timestamp.endsWith('infinity') ? timestamp : `${timestamp.replace(' ', 'T')}Z`;
}
