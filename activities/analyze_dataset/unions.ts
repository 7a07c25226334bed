/** Notes on files of one dataset whose columns differ; the columns are joined by name. */
import { describe, parquetReader } from './column-reading.js';
import type { DatasetFile } from './locate.js';
import { limitNotes } from './notes.js';
import type { Session } from './session.js';

const MAX_NOTES = 5;

/** Notes on JSON and Parquet files; those on CSV files come from {@link missingColumnNotes}. */
export async function unionNotes(file: DatasetFile, { run, readPaths }: Session): Promise<string[]> {
  if (file.files.length === 1 || file.format === 'csv') return [];
  if (file.format === 'json')
    return ['Fields are joined by name: one that a file lacks has no value in its rows.'];
  const types: Map<string, string>[] = [];
  for (const readPath of readPaths) {
    const described = await describe(run, parquetReader([readPath]));
    types.push(new Map(described.map(({ name, type }) => [name, type])));
  }
  return [
    ...missingColumnNotes(
      types.map((each) => [...each.keys()]),
      file.files.map(({ name }) => name),
    ),
    ...otherTypeNotes(types, file),
  ];
}

/** @param columns names in each of the files, of which the first of two notes on the same column is kept */
export function missingColumnNotes(
  columns: readonly (readonly string[])[],
  files: readonly string[],
): string[] {
  const notes = [...new Set(columns.flat())].flatMap((name) => {
    const without = files.filter((_, index) => !columns[index]!.includes(name));
    if (without.length === 0) return [];
    const others = without.length === 1 ? '' : ` and ${without.length - 1} more`;
    return [
      `Column ${JSON.stringify(name)} is missing in ${without[0]!}${others}: no value in rows from there.`,
    ];
  });
  return limitNotes(notes, MAX_NOTES, 'columns are missing in some files');
}

function otherTypeNotes(types: readonly ReadonlyMap<string, string>[], { files }: DatasetFile): string[] {
  const notes = new Map<string, string>();
  const first = new Map<string, { type: string; name: string }>();
  for (const [index, each] of types.entries()) {
    const { name } = files[index]!;
    for (const [column, type] of each) {
      const known = first.get(column);
      if (!known) first.set(column, { type, name });
      else if (known.type !== type && !notes.has(column))
        notes.set(
          column,
          `Column ${JSON.stringify(column)} is ${known.type} in ${known.name} and ${type} in ${name}: read as a type for both.`,
        );
    }
  }
  return limitNotes([...notes.values()], MAX_NOTES, 'columns differ in type');
}
