/**
 * Finds the first wrongly indented line of a text that isn't valid YAML. The YAML library reports where it stopped, which is
 * often elsewhere.
 */

export interface Misindented {
  offset: number;
  /** From 1. */
  line: number;
  message: string;
}

/** An indentation column, and the latest line at it. */
interface Level {
  column: number;
  line: number;
  text: string;
  /** Whether the latest line has a value, so that no line can be nested under it. */
  isFull: boolean;
}

interface Line {
  line: number;
  offset: number;
  column: number;
  content: string;
}

/** Maximum part of a line that is checked, in characters. */
const MAX_CHARACTERS = 1_000;

const KEY = /^(?:"[^"]*"|'[^']*'|[^\s#"'[{&*!|>%@`-][^#]*?|-[^\s#][^#]*?)\s*:(?=\s|$)/;
const BLOCK = /(?:^|[\s:-])[|>][+-]?\d?[+-]?\s*(?:#.*)?$/;

/** Undefined if there is no such line, or the text has constructs that span lines. */
export function misindented(text: string): Misindented | undefined {
  const levels: Level[] = [];
  const lines = contentLines(text);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    if (/^(---|\.\.\.)(\s|$)/.test(line.content) && line.column === 0) {
      levels.length = 0;
      continue;
    }
    const found = place(line, levels);
    if (found === false) continue;
    if (found) return { offset: line.offset, line: line.line, message: found };
    const owner = levels.at(-1)!;
    if (BLOCK.test(line.content)) {
      const end = skipBlock(lines, at, owner);
      if (typeof end !== 'number') return end;
      at = end;
    } else if (isOpen(line.content)) return undefined;
  }
  return undefined;
}

function contentLines(text: string): Line[] {
  let offset = 0;
  return text.split('\n').flatMap((raw, index) => {
    const column = raw.length - raw.trimStart().length;
    const found = {
      line: index + 1,
      offset: offset + column,
      column,
      content: raw.trim().slice(0, MAX_CHARACTERS),
    };
    offset += raw.length + 1;
    return found.content === '' ? [] : [found];
  });
}

/** Adds a line, with its leading dashes, to the levels. @returns the problem; false for a line that starts no entry */
function place(line: Line, levels: Level[]): string | false | undefined {
  let { column, content } = line;
  if (content.startsWith('#')) return false;
  for (;;) {
    const isItem = /^-(\s|$)/.test(content);
    if (!isItem && !KEY.test(content) && column === line.column) return false;
    const problem = enter({ ...line, column, content }, levels);
    if (problem !== undefined || !isItem) return problem;
    const rest = content.slice(1).trimStart();
    if (rest === '' || rest.startsWith('#') || !(KEY.test(rest) || /^-(\s|$)/.test(rest))) return undefined;
    column += content.length - rest.length;
    content = rest;
  }
}

function enter({ line, column, content }: Line, levels: Level[]): string | undefined {
  let left: Level | undefined;
  while (levels.length > 0 && levels.at(-1)!.column > column) left = levels.pop();
  const level = levels.at(-1);
  const entry: Level = { column, line, text: content, isFull: isFull(content) };
  if (level?.column === column) {
    Object.assign(level, entry);
    return undefined;
  }
  if (left)
    return `${shown(content)} is indented by ${spaces(column)}; expected ${spaces(left.column)}, like ${named(left)}${level ? `, or ${spaces(level.column)}, like ${named(level)}` : ''}`;
  if (level?.isFull)
    return `${shown(content)} is indented by ${spaces(column)}, under ${named(level)}, which has a value already; expected ${spaces(level.column)}`;
  levels.push(entry);
  return undefined;
}

/** Skips a block scalar (`|` or `>`). @returns the position of its last line, or a line that is indented too little */
function skipBlock(lines: readonly Line[], start: number, owner: Level): number | Misindented {
  const first = lines[start + 1];
  if (!first || first.column <= owner.column) return start;
  let at = start + 1;
  while (at < lines.length && lines[at]!.column >= first.column) at += 1;
  const next = lines[at];
  if (!next || next.content.startsWith('#')) return at - 1;
  if (next.column <= owner.column && (KEY.test(next.content) || /^-(\s|$)/.test(next.content))) return at - 1;
  return {
    offset: next.offset,
    line: next.line,
    message: `${shown(next.content)} is indented by ${spaces(next.column)}, which ends the text of ${named(owner)}; expected ${spaces(first.column)}, like ${shown(first.content)} (line ${first.line})`,
  };
}

/** Whether a quote or bracket is open at the line's end. */
function isOpen(content: string): boolean {
  const value = content
    .replace(/^(-\s+)*/, '')
    .replace(KEY, '')
    .trim();
  if (/^["']/.test(value))
    return !new RegExp(`^${value[0]}[^]*${value[0]}\\s*(#.*)?$`).test(value) || value.length < 2;
  if (!/^[[{]/.test(value)) return false;
  return (value.match(/[[{]/g) ?? []).length > (value.match(/[\]}]/g) ?? []).length;
}

function isFull(content: string): boolean {
  if (/^-(\s|$)/.test(content)) return false;
  const value = content.replace(KEY, '').trim();
  return value !== '' && !/^([#|>]|[&!]\S*$)/.test(value);
}

function named({ text, line }: Level): string {
  return `${shown(text)} (line ${line})`;
}

function shown(text: string): string {
  return `"${text.length > 40 ? `${text.slice(0, 37)}...` : text}"`;
}

function spaces(count: number): string {
  return count === 1 ? '1 space' : `${count} spaces`;
}
