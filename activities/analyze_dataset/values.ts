/** Values of answers as JSON, by the rules in the output schema. */
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

const jsonValue: DuckDBValueConverter<Json> = (value, type, converter) => {
  if (value === null) return null;
  const kind = DuckDBTypeId[type.typeId];
  if (/^(U?BIGINT|U?HUGEINT|BIGNUM|DECIMAL)$/.test(kind)) return numberIfExact(String(value));
  if (type.typeId === DuckDBTypeId.TIMESTAMP_TZ) {
    const utc = String(new DuckDBTimestampValue((value as DuckDBTimestampTZValue).micros));
    return utc.endsWith('infinity') ? utc : `${utc.replace(' ', 'T')}Z`;
  }
  if (kind.startsWith('TIMESTAMP')) return String(value).replace(' ', 'T');
  if (type.typeId !== DuckDBTypeId.MAP) return JsonDuckDBValueConverter(value, type, converter);
  const { keyType, valueType } = type;
  const pairs = (value as DuckDBMapValue).entries.map(({ key, value: of }): [string, Json] => {
    const name = converter(key, keyType, converter);
    return [typeof name === 'string' ? name : JSON.stringify(name), converter(of, valueType, converter)];
  });
  return Object.fromEntries(pairs);
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
export function rowsOf(reader: DuckDBResultReader, maxCharacters = MAX_VALUE_CHARACTERS): Json[][] {
  return reader.convertRows(jsonValue).map((row) => row.map((value) => shortened(value, maxCharacters)));
}

/** Nested types spell out every field and can be kilobytes long. */
export function shortType(type: string): string {
  return type.length <= MAX_TYPE_CHARACTERS ? type : `${type.slice(0, MAX_TYPE_CHARACTERS)}…`;
}

function shortened(value: Json, maxCharacters: number): Json {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= maxCharacters
    ? value
    : `${text.slice(0, maxCharacters)}… (${text.length} characters)`;
}
