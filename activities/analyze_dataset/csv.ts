/** How CSV files split into rows: DuckDB's sniffer decides by the first rows, notes say what, and every row is held against it. */
import { quotedString } from '@duckdb/node-api';
import type { DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { unreadable } from './errors.js';
import type { Run } from './session.js';
import { contentOf, type Readable } from './sources.js';

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
/** The buffer has to hold two lines. */
const SIZES = [`max_line_size = ${MAX_LINE_BYTES}`, `buffer_size = ${2 * MAX_LINE_BYTES}`];
const RFC_4180 = [`quote = '"'`, `escape = '"'`, `comment = ''`];

/**
 * @returns also DuckDB's guesses of types by name of the column in lower case, and notes
 * @throws DatasetError unreadable
 */
export async function planCsv(
  files: readonly Readable[],
  given: Given,
  run: Run,
): Promise<{ plan: CsvPlan; sniffed: Map<string, string[]>; notes: Set<string> }> {
  const skipsBadRows = given.on_bad_rows === 'skip';
  const nullValues = ['', ...(given.null_values ?? [])];
  const plan: CsvPlan = { dialects: [], nullValues, skipsBadRows, hasLineEnds: false, recordCount: 0 };
  const sniffed = new Map<string, string[]>();
  const notes = new Set<string>();
  const alike = ({ files: _, ...rest }: Dialect) => JSON.stringify(rest);
  for (const file of files) {
    const { dialect, types } = await sniff(file, given, run);
    for (const [index, name] of dialect.names.entries()) {
      const key = name.toLowerCase();
      sniffed.set(key, [...(sniffed.get(key) ?? []), types[index]!]);
    }
    const { records, hasLineEnds } = await countRecords(file, dialect);
    plan.recordCount += records;
    plan.hasLineEnds ||= hasLineEnds;
    notes.add(noteOn(dialect));
    const last = plan.dialects.at(-1);
    if (last && alike(last) === alike(dialect)) last.files += 1;
    else plan.dialects.push(dialect);
  }
  return { plan, sniffed, notes };
}

async function sniff(file: Readable, given: Given, run: Run): Promise<{ dialect: Dialect; types: string[] }> {
  const separator = await separatorLine(file);
  const delimiter = given.delimiter ?? separator;
  if (delimiter !== undefined && !/^[\t -~]$/.test(delimiter))
    throw unreadable(`delimiter: expected one ASCII character; got ${JSON.stringify(delimiter)}`);
  const skip = given.header ? given.header - 1 : separator === undefined ? 0 : 1;
  const options = [
    ...(delimiter === undefined ? [] : [`delim = ${quotedString(delimiter)}`]),
    ...(skip === 0 ? [] : [`skip = ${skip}`]),
    ...(given.header === undefined ? [] : [`header = ${given.header > 0}`]),
  ];
  const sniffWith = async (...more: string[]) => {
    const settings = [quotedString(file.realPath), 'strict_mode = true', ...SIZES, ...options, ...more].join(
      ', ',
    );
    const sniffed = await run(`SELECT Delimiter, SkipRows, HasHeader, Columns FROM sniff_csv(${settings})`);
    const [found, lines, hasHeader, list] = sniffed.getRowsJson()[0]!;
    const columns = list as { name: string; type: string }[];
    const dialect = {
      files: 1,
      delimiter: delimiter ?? (columns.length === 1 ? NO_DELIMITER : (found as string)),
      skip: Number(lines),
      hasHeader: hasHeader === true,
      names: columns.map(({ name }) => name),
    };
    return { dialect, types: columns.map(({ type }) => type) };
  };
  // Without ignore_errors the sniffer leaves out all lines above the last that doesn't fit. Such lines are errors later.
  const found = await sniffWith(...RFC_4180, 'ignore_errors = true');
  if (found.dialect.names.length > 1 || delimiter !== undefined) return found;
  const strict = await sniffWith().catch(() => found);
  const isTable = strict.dialect.names.length > 1;
  if (isTable && strict.dialect.skip === found.dialect.skip) return strict;
  const [first] = found.dialect.names;
  if (!isTable && !/[,;\t|]/.test(first!)) return found;
  const line = strict.dialect.skip + 1;
  const header = isTable ? `; if the names of its columns stand in line ${line}, set header: ${line}` : '';
  throw unreadable(
    `path: ${file.name} has lines of different numbers of fields, beginning with ${JSON.stringify(first)}${header}; else set delimiter ` +
      "to what separates its fields, or, if it has one column, to a character that it doesn't hold",
  );
}

/** The separator that a line such as `sep=;` above the table names, for Excel. */
async function separatorLine(file: Readable): Promise<string | undefined> {
  for await (const head of contentOf(file))
    return /^(?:\ufeff)?sep=(.)\r?\n/.exec(head.toString('utf8', 0, 20))?.[1];
  throw unreadable(`path: ${file.name} has no content`);
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

/** Rows that the last reading with `store_rejects` has left out, and a note on them. */
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
  return {
    count,
    notes: [
      `Lines that don't fit are left out, counted without breaks within quotes: ${shown.join('; ')}${more}.`,
    ],
  };
}

/** SQL to read CSV files, to stand in a FROM: every column is text. @param errors what becomes of lines that don't fit, if skipped */
export function csvSource(plan: CsvPlan, paths: readonly string[], errors = 'ignore_errors'): string {
  let from = 0;
  const sources = plan.dialects.map((dialect) =>
    csvReader(dialect, paths.slice(from, (from += dialect.files)), plan, errors),
  );
  return sources.length === 1 ? sources[0]! : `(FROM ${sources.join(' UNION ALL BY NAME FROM ')})`;
}

function csvReader(
  { delimiter, skip, hasHeader, names }: Dialect,
  paths: readonly string[],
  { skipsBadRows, hasLineEnds, nullValues }: CsvPlan,
  errors = 'ignore_errors',
): string {
  const options = [
    ...RFC_4180,
    'auto_detect = false',
    'strict_mode = true',
    'hive_partitioning = false',
    `delim = ${quotedString(delimiter)}`,
    `skip = ${skip}`,
    `header = ${hasHeader}`,
    `nullstr = [${nullValues.map(quotedString).join(', ')}]`,
    `columns = {${names.map((name) => `${quotedString(name)}: 'VARCHAR'`).join(', ')}}`,
    ...SIZES,
    // The parallel reader may repeat rows beside lines that don't fit.
    ...(skipsBadRows || hasLineEnds ? ['parallel = false'] : []),
    ...(skipsBadRows ? [`${errors} = true`] : []),
  ];
  return `read_csv([${paths.map(quotedString).join(', ')}], ${options.join(', ')})`;
}
