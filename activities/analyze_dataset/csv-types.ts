/** Types of CSV columns, as the first rows suggest them. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { quotedString } from '@duckdb/node-api';
import type { Beginning } from './csv-beginning.js';
import { MAX_RECORD_BYTES } from './csv-records.js';
import type { Session } from './session.js';
import type { Column } from '../../tools/analyze_dataset.js';

export interface CsvTypes {
  columns: Column[];
  dateFormat?: string;
  timestampFormat?: string;
  decimalComma?: true;
  notes: string[];
}

/** Has DuckDB infer types from the rows at the beginnings that fit, so that no bad line can mislead it. */
export async function inferCsvTypes(
  names: readonly string[],
  beginnings: readonly Beginning[],
  session: Session,
): Promise<CsvTypes> {
  const lines: string[] = [];
  for (const { group, rows } of beginnings) {
    const places = names.map((name) => group.names.indexOf(name));
    for (const row of rows) lines.push(places.map((place) => csvField(row[place] ?? '')).join(','));
  }
  if (lines.length === 0) return { columns: names.map((name) => ({ name, type: 'VARCHAR' })), notes: [] };
  const decimalComma = hasDecimalCommas(beginnings);
  const sample = path.join(session.scratchFolder, 'sample.csv');
  await writeFile(sample, `${lines.join('\n')}\n`);
  const decimal = decimalComma ? `, decimal_separator = ','` : '';
  const reader = await session.run(
    `SELECT list_transform(Columns, c -> c.type), DateFormat, TimestampFormat
     FROM sniff_csv(${quotedString(sample)}, delim = ',', quote = '"', escape = '"', header = false, skip = 0,
                    null_padding = false, sample_size = -1, max_line_size = ${MAX_RECORD_BYTES},
                    buffer_size = ${2 * MAX_RECORD_BYTES}, names = [${names.map(quotedString).join(', ')}]${decimal})`,
  );
  const [types, dateFormat, timestampFormat] = reader.getRowsJS()[0]! as [
    string[],
    string | null,
    string | null,
  ];
  return {
    columns: names.map((name, index) => ({ name, type: types[index]! })),
    ...(dateFormat ? { dateFormat } : {}),
    ...(timestampFormat ? { timestampFormat } : {}),
    ...(decimalComma && { decimalComma }),
    notes: decimalComma ? ['Numbers are read with a decimal comma: 1,5 is one and a half.'] : [],
  };
}

/** A value of the sample. Line ends say nothing of its type, and DuckDB's detection fails on some of them. */
function csvField(text: string): string {
  const line = text.replace(/[\r\n]+/g, '_');
  return /[",]|^\s|\s$/.test(line) ? `"${line.replaceAll('"', '""')}"` : line;
}

/**
 * Whether `1,5` is a number: in a file that commas don't separate, a column of such values, and no column of values such
 * as `1.5`. Three digits after each comma may as well be thousands, and stay text.
 */
function hasDecimalCommas(beginnings: readonly Beginning[]): boolean {
  let found = false;
  for (const { group, rows } of beginnings) {
    for (const index of group.names.keys()) {
      const values = rows.map((row) => row[index]!.trim()).filter((value) => value !== '');
      if (values.length === 0) continue;
      if (values.every((value) => /^[-+]?\d*\.\d+$/.test(value))) return false;
      if (group.dialect.delimiter === ',') continue;
      const isDecimal = values.every((value) => /^[-+]?\d+(,\d+)?$/.test(value));
      if (isDecimal && values.some((value) => value.includes(',') && !/,\d{3}$/.test(value))) found = true;
    }
  }
  return found;
}
