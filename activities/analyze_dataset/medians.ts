import { compileQuery } from './compile.js';
import type { CompiledQuery } from './compile.js';
import type { Dataset } from './dataset.js';
import { DatasetError } from './errors.js';
import type { DatasetQuery } from '../../tools/analyze_dataset/index.js';

/** Measured: at most 14 bytes per value, beyond DuckDB's own limit. */
const BYTES_PER_MEDIAN_VALUE = 16;

/**
 * Compiles the query after checking that it fits into memory. An exact median holds every value
 * at once, and DuckDB neither spills those nor counts them against its limit: without this
 * check the process would be ended for its memory, after minutes.
 * @throws DatasetError out_of_memory, and what compileQuery throws
 */
export async function compileWithinMemory(query: DatasetQuery, dataset: Dataset): Promise<CompiledQuery> {
  const compiled = compileQuery(query, dataset.source, dataset.columns);
  const medians = (query.aggregates ?? []).filter(({ fn }) => fn === 'median').length;
  if (medians === 0) return compiled;
  const { path, filters, limit } = query;
  const matching = compileQuery({ path, filters, limit }, dataset.source, dataset.columns);
  const counted = await dataset.run(`SELECT count(*) FROM (${matching.sql})`, matching.values);
  const rowCount = Number(counted.value(0, 0));
  const neededMb = Math.ceil((rowCount * medians * BYTES_PER_MEDIAN_VALUE) / 1024 ** 2);
  if (neededMb <= dataset.memoryLimitMb) return compiled;
  throw new DatasetError(
    'out_of_memory',
    `aggregates: ${medians} median(s) of ${rowCount} rows need about ${neededMb} MB, the limit is ` +
      `${dataset.memoryLimitMb} MB; filter rows away, ask for fewer medians at a time, or take approx_quartiles of the profile`,
  );
}
