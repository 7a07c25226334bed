/** Names that differ by case only: DuckDB silently adds a number to all but the first of them. */
import type { Run } from './session.js';

/** Names with a number at their end that may be DuckDB's own, since without it another column has that name. */
export function possiblyRenamed(names: readonly string[]): string[] {
  const folded = new Set(names.map((name) => name.toLowerCase()));
  return names.filter((name) => {
    const base = withoutNumber(name);
    return base !== undefined && folded.has(base.toLowerCase());
  });
}

function withoutNumber(name: string): string | undefined {
  return /^(.*)_\d+$/s.exec(name)?.[1];
}

export interface KeyNames {
  /** Name that DuckDB has generated -> key in the file. */
  renamed: Map<string, { key: string; type?: string }>;
  /** Keys without a name. */
  unread: { name: string; key: string }[];
  /** Names without a key: DuckDB adds another number to a key that looks like a generated name, such as a_1. */
  unused: Set<string>;
  notes: string[];
}

/** Maps DuckDB's names to the keys of a JSON file. @param files quoted path, or list of paths */
export async function keysOf(run: Run, files: string, names: readonly string[]): Promise<KeyNames> {
  const rows = `read_json(${files}, hive_partitioning = false, records = false, columns = {json: 'JSON'})`;
  const reader = await run(`SELECT DISTINCT unnest(json_keys(json)) AS key FROM ${rows} ORDER BY key`);
  const keys = new Set(reader.getRows().map(([key]) => String(key)));
  const left = new Set([...keys].filter((key) => !names.includes(key)));
  const renamed: KeyNames['renamed'] = new Map();
  for (const name of names) {
    const key = withoutNumber(name);
    if (!keys.has(name) && key !== undefined && left.delete(key)) renamed.set(name, { key });
  }
  const used = new Set(names.map((name) => name.toLowerCase()));
  const unread = [...left].map((key) => {
    let name = key;
    for (let number = 1; used.has(name.toLowerCase()); number += 1) name = `${key}_${number}`;
    used.add(name.toLowerCase());
    return { name, key };
  });
  // A key that looks like a generated name: the type under that name may be another key's.
  if (unread.length > 0)
    for (const name of possiblyRenamed(names))
      if (keys.has(name)) renamed.set(name, { key: name, type: 'JSON' });
  const pairs = [...renamed]
    .map(([name, { key }]) => ({ name, key }))
    .filter(({ name, key }) => name !== key);
  return {
    renamed,
    unread,
    unused: new Set(names.filter((name) => !keys.has(name) && !renamed.has(name))),
    notes: [...pairs, ...unread].map(({ name, key }) => renamedNote(key, name, [...keys])),
  };
}

/** Notes on the columns of a Parquet file that DuckDB has given other names. */
export async function namesOfParquet(run: Run, files: string, names: readonly string[]): Promise<string[]> {
  const schema = (await run(`SELECT file_name, name, num_children FROM parquet_schema(${files})`)).getRows();
  const first = schema.filter(([file]) => file === schema[0]?.[0]);
  const original: string[] = [];
  for (let at = 1; at < first.length; at += 1 + descendants(first, at)) original.push(String(first[at]![1]));
  return names.flatMap((name, index) => {
    const given = original[index];
    return given === undefined || given === name ? [] : [renamedNote(given, name, original)];
  });
}

function descendants(schema: readonly unknown[][], at: number): number {
  let count = 0;
  for (let child = 0; child < Number(schema[at]![2] ?? 0); child += 1)
    count += 1 + descendants(schema, at + 1 + count);
  return count;
}

/** Note on a name that differs from another one by case only, of which DuckDB takes one. */
export function renamedNote(key: string, name: string, all: readonly string[]): string {
  const twin = all.find((other) => other !== key && other.toLowerCase() === key.toLowerCase()) ?? key;
  return `Columns ${JSON.stringify(twin)} and ${JSON.stringify(key)} differ by case only: ${JSON.stringify(key)} is called ${JSON.stringify(name)}.`;
}
