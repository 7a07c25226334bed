/** Tool for the analysis of data files with DuckDB: its input, output and documentation. */
import { z } from 'zod';
import { defineTool } from '../../operations/tool/index.js';
import { writeArtifactQuestion } from './question.js';

/** Maximum number of rows in an answer. The Parquet artifact has no such limit. */
const MAX_ANSWER_ROWS = 1000;
const MAX_TABLE_ROWS = 50;
const MAX_TABLE_COLUMNS = 30;
const MAX_TABLE_CHARACTERS = 8000;
const MAX_CELL_CHARACTERS = 60;

const column = z.string();
const scalar = z.union([z.string().max(10_000), z.number(), z.boolean()]);
const maybe = <T extends z.ZodType>(schema: T, description: string) =>
  schema.optional().describe(description);

const filterSchema = z.strictObject({
  column: column.describe('As in the file, or the path of a field: user.addr.city.'),
  op: z
    .enum(['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'in', 'contains', 'is_null', 'not_null'])
    .describe('contains: in a text, case matters. Rows without a value match is_null only.'),
  value: maybe(
    z.union([scalar, z.array(scalar).min(1).max(1000)]),
    'Integers beyond 2^53 as strings; dates and times as ISO 8601 (without an offset: UTC where the column has a time zone); a list for `in`.',
  ),
});

const aggregateSchema = z.strictObject({
  fn: z
    .enum(['count', 'count_distinct', 'sum', 'avg', 'min', 'max', 'median', 'stddev'])
    .describe(
      'All ignore missing values and NaN. count without a column counts rows. stddev is of a sample.',
    ),
  column: maybe(column, 'Needed by all but count.'),
  as: maybe(z.string().min(1).max(100), 'Name in the result. Default: fn_column, or count.'),
});

const orderSchema = z.strictObject({
  column: column.describe('With group_by or aggregates: a grouped column or the name of an aggregate.'),
  direction: maybe(z.enum(['asc', 'desc']), 'Default: asc. Missing values come last.'),
});

export const analyzeDatasetInput = z.strictObject({
  path: z
    .string()
    .min(1)
    .max(4096)
    .describe(
      'CSV (.csv, .tsv), JSON (.json: an array of objects or one a line; .ndjson, .jsonl) or Parquet file, absolute or ' +
        'relative to an allowed folder; or a pattern: logs/**/2026-*.csv. CSV and JSON may be gzipped (.gz).',
    ),
  filters: maybe(z.array(filterSchema).max(100), 'Rows must match all.'),
  group_by: maybe(z.array(column).max(50), 'Columns; without aggregates each combination is counted.'),
  aggregates: maybe(
    z.array(aggregateSchema).max(50),
    "For each group, or over all rows. Without both: the file's rows.",
  ),
  order_by: maybe(z.array(orderSchema).max(50), 'Default: by the grouped columns, else as in the file.'),
  delimiter: maybe(z.string(), 'Of CSV. Default: see notes.'),
  header: maybe(z.int().min(0).max(10_000), 'Line of the names in CSV; 0: none.'),
  null_values: maybe(z.array(z.string()), 'Missing values in CSV, such as NA.'),
  on_bad_rows: maybe(
    z.enum(['fail', 'skip']),
    "Lines of CSV that don't fit: skip notes them. Default: fail.",
  ),
  types: maybe(z.record(z.string(), z.string()), 'Column -> VARCHAR, BIGINT, DOUBLE or DECIMAL(18,2).'),
  date_format: maybe(z.string(), 'If not ISO 8601: %d/%m/%Y.'),
  encoding: maybe(z.string(), 'If not UTF-8: windows-1252.'),
  limit: z
    .int()
    .min(1)
    .max(MAX_ANSWER_ROWS)
    .default(50)
    .describe('Rows in the answer; row_count counts the whole result.'),
  profile: maybe(
    z.boolean(),
    'Also describe every column: missing and distinct values, range, mean, quartiles, most frequent values.',
  ),
  artifact: z.boolean().default(true).describe('Also write the whole result as a Parquet file.'),
  ask_over_mb: z
    .number()
    .min(0)
    .default(16)
    .describe('Estimated MB of that file above which a person is asked first.'),
});

const columnSchema = z.object({
  name: z.string(),
  type: z.string().describe("DuckDB's type, such as BIGINT, VARCHAR, TIMESTAMP; shortened when very long."),
});

// Lists and structs end in `unknown` and not in this schema again: clients drop tools with recursive schemas.
const nested = [z.array(z.unknown()), z.record(z.string(), z.unknown())] as const;
const value = z
  .union([z.string(), z.number(), z.boolean(), z.null(), ...nested])
  .describe(
    'Numbers (decimals and big integers too) are JSON numbers where those hold them exactly, else strings; ' +
      'timestamps, dates and times are ISO 8601 strings (UTC with a Z where the column knows a time zone); infinities are strings, NaN is null.',
  );

export const columnProfileSchema = z.object({
  name: z.string(),
  type: z.string(),
  row_count: z.int(),
  null_count: z.int(),
  null_share: z.number().describe('0 to 1; 0 for a file without rows.'),
  approx_distinct: z
    .int()
    .describe(
      'Distinct values. Exact up to a million (of up to 32 columns together), beyond that an estimate that may be off by 45 % ' +
        '(HyperLogLog).',
    ),
  min: value,
  max: value,
  mean: z.number().nullable().describe('Of numeric columns, without infinities.'),
  stddev: z.number().nullable().describe('Of a sample; null with fewer than two values.'),
  approx_quartiles: z
    .array(z.number())
    .nullable()
    .describe('25 %, 50 % and 75 % of a numeric column, estimated (t-digest).'),
  top_values: z
    .array(z.object({ value, count: z.int() }))
    .nullable()
    .describe(
      'The five most frequent values of a text or boolean column, counted exactly; null for other types and where distinct values ' +
        'are estimated.',
    ),
});

export const analyzeDatasetOutput = z.object({
  file: z.object({
    path: z.string(),
    format: z.enum(['csv', 'json', 'parquet']),
    bytes: z.int().describe('On disk, of all files.'),
    row_count: z.int(),
    columns: z.array(columnSchema),
  }),
  columns: z.array(columnSchema).describe("The result's columns."),
  rows: z.array(z.array(value)).describe('The first rows of the result, values in the order of columns.'),
  row_count: z.int().describe('Rows of the whole result, before the limit.'),
  profile: z.array(columnProfileSchema).optional(),
  artifact: z
    .object({ uri: z.string(), bytes: z.int(), row_count: z.int() })
    .optional()
    .describe('The whole result as a Parquet file.'),
  notes: z
    .array(z.string())
    .describe(
      'What was assumed in reading the file, with the argument that changes it, and what is not exact.',
    ),
});

export type AnalyzeDatasetInput = z.infer<typeof analyzeDatasetInput>;
export type AnalyzeDatasetOutput = z.infer<typeof analyzeDatasetOutput>;
export type Filter = z.infer<typeof filterSchema>;
export type Aggregate = z.infer<typeof aggregateSchema>;
export type Column = z.infer<typeof columnSchema>;
export type ColumnProfile = z.infer<typeof columnProfileSchema>;
/** The part of the input that is the query; the workflow handles the rest. */
export type DatasetQuery = Omit<AnalyzeDatasetInput, 'profile' | 'artifact' | 'ask_over_mb'>;

export default defineTool({
  name: 'analyze_dataset',
  title: 'Analyze a dataset',
  description: {
    does:
      'Describes every column of a CSV, JSON or Parquet file, and filters, groups, aggregates and sorts its rows with ' +
      'DuckDB. Files may be larger than memory.',
    useWhen: 'Use it instead of reading a data file yourself; its notes say how the file was read.',
    returns:
      'the first rows, the number of all, the profile if asked for, and the whole result as a Parquet file.',
  },
  input: analyzeDatasetInput,
  output: analyzeDatasetOutput,
  toText: (output) => {
    const { row_count, profile, artifact, notes } = output;
    const file = artifact && `All ${row_count} rows as Parquet (${artifact.bytes} bytes): ${artifact.uri}`;
    return [tableText(output), profile && profileText(profile), file, ...notes].filter(Boolean).join('\n\n');
  },
  deadlineSeconds: 6 * 3600,
  // Each call may take 512 MB (DuckDB's limit before it spills): four fit beside the rest on a host of 4 GB. One is left to other
  // callers, since a call may take hours.
  queue: { concurrency: 4, perCaller: 3 },
  estimate: {
    seconds: 1,
    per: { argument: 'path', of: 'file_bytes', seconds: 30e-9 },
    variants: [
      {
        when: { profile: true },
        seconds: 2,
        per: { argument: 'path', of: 'file_bytes', seconds: 60e-9 },
      },
    ],
  },
  cleanup: 'unfinished files are removed; finished column profiles stay.',
  // The same file and query fail again: the arguments have to change.
  retryableErrors: [],
  example: { input: { path: 'flights-3m.parquet', group_by: ['origin'], limit: 5 } },
  questions: { writeArtifact: writeArtifactQuestion },
  annotations: { readOnlyHint: true, openWorldHint: false },
});

/** The first rows as a Markdown table whose columns line up as plain text too. Fractions are rounded. */
function tableText({ columns, rows, row_count: rowCount }: AnalyzeDatasetOutput): string {
  const names = columns.slice(0, MAX_TABLE_COLUMNS).map(({ name }) => name);
  const cells = [names, ...rows.slice(0, MAX_TABLE_ROWS)].map((row) =>
    names.map((_, at) => cellText(row[at])),
  );
  const widths = names.map((_, at) => Math.max(3, ...cells.map((row) => row[at]!.length)));
  const isRight = names.map((_, at) => rows.every((row) => row[at] === null || typeof row[at] === 'number'));
  const padded = cells.map((row) =>
    row.map((cell, at) => (isRight[at] ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!))),
  );
  const rule = widths.map((width, at) => `${'-'.repeat(width - 1)}${isRight[at] ? ':' : '-'}`);
  const [header, ...body] = padded.map((row) => `| ${row.join(' | ')} |`);
  let left = MAX_TABLE_CHARACTERS - 2 * (header!.length + 1);
  const shown = body.filter((line) => (left -= line.length + 1) > 0);
  const omitted = [
    ...(shown.length < rowCount ? [`${shown.length} of ${rowCount.toLocaleString('en-US')} rows`] : []),
    ...(names.length < columns.length ? [`${names.length} of ${columns.length} columns`] : []),
  ];
  const table = [header, `| ${rule.join(' | ')} |`, ...shown].join('\n');
  return omitted.length === 0 ? table : `${table}\n\n(${omitted.join(', ')})`;
}

function cellText(cell: unknown): string {
  if (cell === null) return '';
  if (typeof cell === 'number' && !Number.isInteger(cell)) {
    const isPlain = Math.abs(cell) >= 0.01 && Math.abs(cell) < 1e15;
    return isPlain ? cell.toFixed(2) : String(Number(cell.toPrecision(3)));
  }
  const text = (typeof cell === 'string' ? cell : JSON.stringify(cell))
    .replace(/\s+/g, ' ')
    .replace(/[\\|]/g, '\\$&');
  return text.length <= MAX_CELL_CHARACTERS ? text : `${text.slice(0, MAX_CELL_CHARACTERS - 1)}…`;
}

function profileText(profile: ColumnProfile[]): string {
  const line = (one: ColumnProfile) => {
    const range = one.min === null ? '' : `, ${JSON.stringify(one.min)} to ${JSON.stringify(one.max)}`;
    const mean = one.mean === null ? '' : `, mean ${Number(one.mean.toPrecision(4))}`;
    return `- ${one.name} (${one.type}): ${one.null_count} missing, ${one.approx_distinct} distinct${range}${mean}`;
  };
  return ['Columns:', ...profile.map(line)].join('\n');
}
