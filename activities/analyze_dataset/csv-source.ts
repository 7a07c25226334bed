import { quotedIdentifier, quotedString } from '@duckdb/node-api';
import type { CsvPlan } from './csv-plan.js';
import { MAX_RECORD_BYTES } from './csv-records.js';
import type { CsvTypes } from './csv-types.js';

/**
 * What to put into a FROM.
 *
 * @param readPaths of the dataset's files, or of their copies
 * @param types without them every column is text
 */
export function csvSource(
  plan: CsvPlan,
  readPaths: readonly string[],
  types?: CsvTypes,
  textColumns: readonly string[] = [],
): string {
  const typeOf = (name: string) =>
    (textColumns.includes(name) ? undefined : types?.columns.find((column) => column.name === name)?.type) ??
    'VARCHAR';
  let from = 0;
  const sources = plan.groups.map((group) => {
    const paths = readPaths.slice(from, (from += group.files));
    const { delimiter, quote, escape } = group.dialect;
    const columns = group.names.map((name) => `${quotedString(name)}: ${quotedString(typeOf(name))}`);
    const options = [
      'auto_detect = false',
      'hive_partitioning = false',
      'header = false',
      `delim = ${quotedString(delimiter)}`,
      `quote = ${quotedString(quote)}`,
      `escape = ${quotedString(escape)}`,
      `new_line = '${(group.copied ? '\n' : group.newline).replace('\r', '\\r').replace('\n', '\\n')}'`,
      `skip = ${group.copied ? 0 : group.skip}`,
      `columns = {${columns.join(', ')}}`,
      `max_line_size = ${MAX_RECORD_BYTES}`,
      `buffer_size = ${2 * MAX_RECORD_BYTES}`,
      ...(types?.dateFormat === undefined ? [] : [`dateformat = ${quotedString(types.dateFormat)}`]),
      ...(types?.timestampFormat === undefined
        ? []
        : [`timestampformat = ${quotedString(types.timestampFormat)}`]),
      ...(types?.decimalComma ? [`decimal_separator = ','`] : []),
      ...(plan.isSequential ? ['parallel = false'] : []),
    ];
    return `read_csv([${paths.map(quotedString).join(', ')}], ${options.join(', ')})`;
  });
  if (sources.length === 1) return sources[0]!;
  const selects = sources.map((source, index) => {
    const own = plan.groups[index]!.names;
    const selected = plan.names.map((name) => {
      const column = quotedIdentifier(name);
      return own.includes(name) ? column : `CAST(NULL AS ${typeOf(name)}) AS ${column}`;
    });
    return `SELECT ${selected.join(', ')} FROM ${source}`;
  });
  return `(${selects.join(' UNION ALL ')})`;
}
