/** Builds queries for Temporal's visibility store. */

export function quote(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** @param values at least one @returns e.g. `IN ('a', 'b')` */
export function anyOf(values: Iterable<string>): string {
  return `IN (${[...new Set(values)].map(quote).join(', ')})`;
}
