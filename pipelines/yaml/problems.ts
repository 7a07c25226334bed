/** A problem of a pipeline's file, with its place. */

export interface Problem {
  /** The file, as the caller named it. */
  path: string;
  /** From 1. */
  line: number;
  /** From 1, in UTF-16 units. */
  column: number;
  /** Key, expected and actual value, and a hint. */
  message: string;
}

/** `file:line:column: message`, which editors and terminals link. */
export function formatProblem({ path, line, column, message }: Problem): string {
  return `${path}:${line}:${column}: ${message}`;
}

/** Path in the file's data: keys and positions from the top. */
export type KeyPath = readonly (string | number)[];

/** Part of an entry: the key, the value, or the first occurrence of a text in the value. */
export type Place = 'key' | 'value' | { text: string };

/** Reports a problem of the entry at `path`. @param at Default: the value */
export type Report = (path: KeyPath, message: string | (() => string), at?: Place) => void;

/** `jobs.build.steps[0].run` */
export function formatKeyPath(path: KeyPath): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '');
}

/** A value in a message, in one short line. */
export function preview(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return 'a map';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}..."` : text;
}
