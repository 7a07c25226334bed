/** How CSV files split into rows: DuckDB's sniffer decides by the first rows, notes say what, and every row is held against it. */
import { quotedString } from '@duckdb/node-api';
import type { DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { unreadable } from './errors.js';
import type { Run } from './session.js';
import { contentOf, headOf, type Readable } from './sources.js';

/** How consecutive files split into rows. */
interface Dialect {
  files: number;
  delimiter: string;
  /** Lines above the header, or above the first row. */
  skip: number;
  hasHeader: boolean;
  names: string[];
}

/** How the files split into rows. A plain value, passed from call to call. */
export interface CsvPlan {
  dialects: Dialect[];
  nullValues: string[];
  skipsBadRows: boolean;
  /** Whether values have line ends, within which DuckDB's parallel reader may begin a row. */
  hasLineEnds: boolean;
  /** Records of all files without their headers, counted without DuckDB. */
  recordCount: number;
}

type Given = Pick<DatasetQuery, 'delimiter' | 'header' | 'null_values' | 'on_bad_rows'>;

/** Maximum length of a line, in bytes. */
const MAX_LINE_BYTES = 16 * 1024 ** 2;
/** Delimiter of files with one column: a character that no text has. */
const NO_DELIMITER = '\x1f';
const RFC_4180 = [`quote = '"'`, `escape = '"'`, `comment = ''`];
const STRICT = [
  'strict_mode = true',
  `max_line_size = ${MAX_LINE_BYTES}`,
  // It has to hold two lines.
  `buffer_size = ${2 * MAX_LINE_BYTES}`,
];

/** @returns also notes @throws DatasetError unreadable */
export async function planCsv(
  files: readonly Readable[],
  given: Given,
  run: Run,
): Promise<{ plan: CsvPlan; notes: Set<string> }> {
  const plan: CsvPlan = {
    dialects: [],
    nullValues: ['', ...(given.null_values ?? [])],
    skipsBadRows: given.on_bad_rows === 'skip',
    hasLineEnds: false,
    recordCount: 0,
  };
  const notes = new Set<string>();
  for (const file of files) {
    const dialect = await sniff(file, given, run);
    const { records, hasLineEnds } = await countRecords(file, dialect);
    plan.recordCount += records;
    plan.hasLineEnds ||= hasLineEnds;
    notes.add(noteOn(dialect));
    const last = plan.dialects.at(-1);
    if (last && JSON.stringify({ ...last, files: 1 }) === JSON.stringify(dialect)) last.files += 1;
    else plan.dialects.push(dialect);
  }
  return { plan, notes };
}

async function sniff(file: Readable, given: Given, run: Run): Promise<Dialect> {
  const head = await headOf(file);
  if (head.length === 0) throw unreadable(`path: ${file.name} has no content`);
  // The separator that such a line above the table names, for Excel.
  const separator = /^(?:\ufeff)?sep=(.)\r?\n/.exec(head.toString('utf8', 0, 20))?.[1];
  const delimiter = given.delimiter ?? separator;
  if (delimiter !== undefined && !/^[\t -~]$/.test(delimiter))
    throw unreadable(`delimiter: expected one ASCII character; got ${JSON.stringify(delimiter)}`);
  const skip = given.header ? given.header - 1 : separator === undefined ? 0 : 1;
  const options = [
    quotedString(file.realPath),
    ...STRICT,
    ...(delimiter === undefined ? [] : [`delim = ${quotedString(delimiter)}`]),
    ...(skip === 0 ? [] : [`skip = ${skip}`]),
    ...(given.header === undefined ? [] : [`header = ${given.header > 0}`]),
  ];
  const sniffWith = async (...more: string[]): Promise<Dialect> => {
    const settings = [...options, ...more].join(', ');
    const sniffed = await run(
      `SELECT Delimiter, SkipRows, HasHeader, list_transform(Columns, lambda c: c.name) FROM sniff_csv(${settings})`,
    );
    const [found, lines, hasHeader, names] = sniffed.getRowsJson()[0] as [string, number, boolean, string[]];
    const isTable = names.length > 1;
    const fields = delimiter ?? (isTable ? found : NO_DELIMITER);
    return { files: 1, delimiter: fields, skip: Number(lines), hasHeader, names };
  };
  // Without ignore_errors the sniffer leaves out all lines above the last that doesn't fit. Such lines are errors later.
  const found = await sniffWith(...RFC_4180, 'ignore_errors = true');
  if (found.names.length > 1 || delimiter !== undefined) return found;
  const strict = await sniffWith().catch(() => found);
  const isTable = strict.names.length > 1;
  if (isTable && strict.skip === found.skip) return strict;
  const [first] = found.names;
  if (!isTable && !/[,;\t|]/.test(first!)) return found;
  const line = strict.skip + 1;
  const header = isTable ? `; if the names of its columns stand in line ${line}, set header: ${line}` : '';
  throw unreadable(
    `path: ${file.name} has lines of different numbers of fields, beginning with ${JSON.stringify(first)}${header}; else set delimiter ` +
      "to what separates its fields, or, if it has one column, to a character that it doesn't hold",
  );
}

/**
 * Counts a file's records. DuckDB silently drops those below a quote that never closes.
 *
 * @throws DatasetError unreadable, for such a quote, and for NUL, which text in UTF-16 has
 */
async function countRecords(
  file: Readable,
  { delimiter, skip, hasHeader, names }: Dialect,
): Promise<{ records: number; hasLineEnds: boolean }> {
  const [LF, CR, QUOTE, separator] = [0x0a, 0x0d, 0x22, delimiter.charCodeAt(0)];
  let [line, records, opened, previous, hasLineEnds, isFirst] = [1, hasHeader ? -1 : 0, 0, 0, false, true];
  let state: 'start' | 'field' | 'text' | 'quoted' | 'closed' = 'start';
  for await (const chunk of contentOf(file)) {
    for (let at = isFirst && chunk[0] === 0xef ? 3 : 0; at < chunk.length; at += 1) {
      const byte = chunk[at]!;
      const isEnd = byte === CR || (byte === LF && previous !== CR);
      if (byte === 0)
        throw unreadable(
          `path: ${file.name} has NUL in line ${line}; if it is UTF-16, set encoding: "utf-16le"`,
        );
      if (isEnd) line += 1;
      if (state === 'quoted') {
        hasLineEnds ||= isEnd;
        if (byte === QUOTE) state = 'closed';
      } else if (byte === QUOTE && state !== 'text') {
        if (state !== 'closed') opened = line;
        state = 'quoted';
      } else if (isEnd) {
        // An empty line is a row if there is one column.
        if ((state !== 'start' || names.length === 1) && line - 1 > skip) records += 1;
        state = 'start';
      } else if (byte !== LF) state = byte === separator ? 'field' : 'text';
      previous = byte;
    }
    isFirst = false;
  }
  if (state === 'quoted')
    throw unreadable(`path: ${file.name} has a quote in line ${opened} that never closes; fix that line`);
  if (state !== 'start' && line > skip) records += 1;
  return { records, hasLineEnds };
}

function noteOn({ delimiter, skip, hasHeader }: Dialect): string {
  const separator = delimiter === '\t' ? 'tabs' : JSON.stringify(delimiter);
  const fields = delimiter === NO_DELIMITER ? 'one column' : `${separator} between fields`;
  const above = skip === 0 ? '' : `, without what stands above line ${skip + 1}`;
  const header = hasHeader
    ? `names in line ${skip + 1}`
    : 'no names (header: 1 takes the first line for them)';
  return `CSV is read with ${fields}, ${header}${above}. Empty fields are missing, quoted or not.`;
}

/** Number of rows that the last reading has left out, and a note on them. */
export async function rejectedRows(
  run: Run,
  files: readonly Readable[],
): Promise<{ count: number; notes: string[] }> {
  const rejected = await run(
    `SELECT file_path, line, any_value(error_message), any_value(left(trim(csv_line, chr(10) || chr(13)), 100)), any_value(error_type), count(*) OVER ()
     FROM reject_errors JOIN reject_scans USING (scan_id, file_id) GROUP BY ALL ORDER BY file_path, line LIMIT 10`,
  );
  const rows = rejected.getRows().map((row) => row.map(String));
  if (rows.length === 0) return { count: 0, notes: [] };
  const wrong = rows.find((row) => row[4] === 'INVALID ENCODING');
  if (wrong) throw unreadable(`path: line ${wrong[1]} is not UTF-8; set encoding, such as "windows-1252"`);
  const shown = rows.map(([path, line, fault, text]) => {
    const name = files.find(({ realPath }) => realPath === path)?.name;
    return `line ${line} of ${name} (${fault}): ${JSON.stringify(text)}`;
  });
  const count = Number(rows[0]![5]);
  const more = count > rows.length ? `, and ${count - rows.length} more` : '';
  const note = `Lines that don't fit are left out, counted without breaks within quotes: ${shown.join('; ')}${more}.`;
  return { count, notes: [note] };
}

/** SQL to read CSV files, to stand in a FROM: every column is text. @param errors what becomes of lines that don't fit, if skipped */
export function csvSource(
  { dialects, skipsBadRows, hasLineEnds, nullValues }: CsvPlan,
  files: readonly Readable[],
  errors: 'ignore_errors' | 'store_rejects' = 'ignore_errors',
): string {
  let from = 0;
  const sources = dialects.map(({ files: alike, delimiter, skip, hasHeader, names }) => {
    const paths = files.slice(from, (from += alike)).map(({ realPath }) => quotedString(realPath));
    const settings = [
      `[${paths.join(', ')}]`,
      ...STRICT,
      ...RFC_4180,
      'auto_detect = false',
      'hive_partitioning = false',
      `delim = ${quotedString(delimiter)}`,
      `skip = ${skip}`,
      `header = ${hasHeader}`,
      `nullstr = [${nullValues.map(quotedString).join(', ')}]`,
      `columns = {${names.map((name) => `${quotedString(name)}: 'VARCHAR'`).join(', ')}}`,
      // The parallel reader may repeat rows beside lines that don't fit.
      ...(skipsBadRows || hasLineEnds ? ['parallel = false'] : []),
      ...(skipsBadRows ? [`${errors} = true`] : []),
    ];
    return `read_csv(${settings.join(', ')})`;
  });
  return sources.length === 1 ? sources[0]! : `(FROM ${sources.join(' UNION ALL BY NAME FROM ')})`;
}
