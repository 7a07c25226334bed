/** Builds queries for Temporal's visibility store. */

/** Quotes a value, with backslash escapes. */
export function quote(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
