/** Columns and the fields within structs, named by paths such as `user.addr.city`. */
import { quotedIdentifier, quotedString } from '@duckdb/node-api';
import { DatasetError, unknownColumn, unknownField } from './errors.js';
import { shortType } from './values.js';
import type { Column } from '../../tools/analyze_dataset/index.js';

/** Maximum length of a type in a message, in characters. */
const MAX_TYPE_CHARACTERS = 100;

/** A column of the file, or a field of one. */
export interface Operand extends Column {
  /** The expression that reads it; `name` is its path. */
  sql: string;
}

/**
 * Finds a column by its name or a field by its path. A name or a longer part of the path wins over a shorter one, so a
 * column that is called `a.b` is found before the field b of the column a.
 *
 * @throws DatasetError unknown_column, naming the known columns, or the known fields at the level that lacks one
 */
export function resolveOperand(where: string, name: string, columns: readonly Column[]): Operand {
  const column = columns.find((one) => one.name === name);
  if (column) return { ...column, sql: quotedIdentifier(name) };
  for (const [head, rest] of splits(name)) {
    const top = columns.find((one) => one.name === head);
    if (top) return { ...fieldOf(where, name, rest, { ...top, sql: quotedIdentifier(head) }), name };
  }
  throw unknownColumn(
    where,
    name,
    columns.map((one) => one.name),
  );
}

function fieldOf(where: string, path: string, rest: string, parent: Operand): Operand {
  const fields = structFields(parent.type);
  if (!fields) {
    throw new DatasetError(
      'unknown_column',
      `${where}: ${JSON.stringify(path)} leads into ${JSON.stringify(parent.name)}, which is ${kindOf(parent.type)}`,
    );
  }
  const inside = (field: Column): Operand => ({
    name: `${parent.name}.${field.name}`,
    type: field.type,
    sql: `struct_extract(${parent.sql}, ${quotedString(field.name)})`,
  });
  const last = fields.find((field) => field.name === rest);
  if (last) return inside(last);
  for (const [head, deeper] of splits(rest)) {
    const next = fields.find((field) => field.name === head);
    if (next) return fieldOf(where, path, deeper, inside(next));
  }
  throw unknownField(
    where,
    path,
    parent.name,
    fields.map((field) => field.name),
  );
}

/** All splits of a path at a dot, the longest first part first. */
function splits(path: string): [string, string][] {
  const parts: [string, string][] = [];
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1))
    parts.push([path.slice(0, dot), path.slice(dot + 1)]);
  return parts;
}

function kindOf(type: string): string {
  const shown = shortType(type, MAX_TYPE_CHARACTERS);
  if (/\]$/.test(type)) return `a list (${shown}): its elements have no path`;
  if (type.startsWith('MAP(')) return `a map (${shown}): its keys differ from row to row and have no path`;
  if (type === 'JSON') return 'of no common shape in all rows (JSON): its fields have no path';
  return `no struct (${shown})`;
}

/** Fields of a struct type as DuckDB spells it: `STRUCT(city VARCHAR, "zip code" BIGINT)`; undefined for another type. */
export function structFields(type: string): Column[] | undefined {
  if (!type.startsWith('STRUCT(') || !type.endsWith(')')) return undefined;
  const fields: Column[] = [];
  const text = type.slice('STRUCT('.length, -1);
  let at = 0;
  while (at < text.length) {
    const spelled = /^(?:"((?:[^"]|"")*)"|([^\s"]+)) /.exec(text.slice(at));
    if (!spelled) return undefined;
    at += spelled[0].length;
    const end = endOfType(text, at);
    const name = spelled[1]?.replaceAll('""', '"') ?? spelled[2]!;
    fields.push({ name, type: text.slice(at, end) });
    at = end + ', '.length;
  }
  return fields;
}

/** Index of the comma after a type, or of the text's end. Quoted names and parentheses hide commas. */
function endOfType(text: string, start: number): number {
  let depth = 0;
  let quote = '';
  for (let at = start; at < text.length; at += 1) {
    const character = text[at]!;
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === ',' && depth === 0) return at;
  }
  return text.length;
}
