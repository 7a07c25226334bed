import { quotedIdentifier, quotedString } from '@duckdb/node-api';
import type { CsvPlan } from './csv-plan.js';
import { MAX_RECORD_BYTES } from './csv-records.js';

/**
 * SQL to read CSV files, to stand in a FROM: every column is text, and an empty field without quotes is NULL.
 *
 * @param readPaths of the dataset's files, or of their copies
 */
export function csvSource(plan: CsvPlan, readPaths: readonly string[]): string {
  let from = 0;
  const sources = plan.groups.map((group) => {
    const paths = readPaths.slice(from, (from += group.files));
    const { delimiter, quote, escape } = group.dialect;
    const columns = group.names.map((name) => `${quotedString(name)}: 'VARCHAR'`);
    const options = [
      'auto_detect = false',
      'hive_partitioning = false',
      'header = false',
      'allow_quoted_nulls = false',
      `delim = ${quotedString(delimiter)}`,
      `quote = ${quotedString(quote)}`,
      `escape = ${quotedString(escape)}`,
      `new_line = '${(group.copied ? '\n' : group.newline).replace('\r', '\\r').replace('\n', '\\n')}'`,
      `skip = ${group.copied ? 0 : group.skip}`,
      `columns = {${columns.join(', ')}}`,
      `max_line_size = ${MAX_RECORD_BYTES}`,
      `buffer_size = ${2 * MAX_RECORD_BYTES}`,
      ...(plan.isSequential ? ['parallel = false'] : []),
    ];
    return `read_csv([${paths.map(quotedString).join(', ')}], ${options.join(', ')})`;
  });
  if (sources.length === 1) return sources[0]!;
  const selects = sources.map((source, index) => {
    const own = plan.groups[index]!.names;
    const selected = plan.names.map((name) => {
      const column = quotedIdentifier(name);
      return own.includes(name) ? column : `CAST(NULL AS VARCHAR) AS ${column}`;
    });
    return `SELECT ${selected.join(', ')} FROM ${source}`;
  });
  return `(${selects.join(' UNION ALL ')})`;
}
