/** Parts of queries to Temporal's visibility store. */

/** Quotes a value, where a backslash escapes what follows it. */
export function quote(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
