/** Builds queries for Temporal's visibility store. */

export function quote(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
