/** Determines whether the first record of a CSV file names its columns. */
import { renamedNote } from './names.js';
import { limitNotes } from './notes.js';

export interface Header {
  /** Undefined where the first record is data. */
  names?: string[];
  note?: string;
}

type Kind = 'empty' | 'number' | 'time' | 'boolean' | 'text';

/** Minimum share of values of one kind that makes a column of that kind. */
const MOSTLY = 0.8;
const MAX_NOTES = 3;

/**
 * @param first fields of the first record
 * @param rest fields of the records after it
 */
export function findHeader(
  first: readonly string[],
  rest: readonly (readonly string[])[],
  line: number,
): Header {
  const expected = first.map((_, index) => columnKind(rest, index));
  const kinds = first.map(kindOf);
  const unlike = kinds.filter(
    (kind, index) => kind === 'text' && expected[index] !== 'text' && expected[index] !== 'empty',
  );
  const alike = kinds.filter((kind) => kind !== 'text' && kind !== 'empty');
  if (kinds.every((kind) => kind === 'empty')) return { note: noHeader(line) };
  if (alike.length > unlike.length) return { note: noHeader(line) };
  if (alike.length > 0) {
    return {
      names: [...first],
      note: `Line ${line} is taken as the header, although it holds numbers or dates too.`,
    };
  }
  if (unlike.length === 0) {
    const again = first.findIndex((name, index) => name !== '' && rest.some((row) => row[index] === name));
    if (again !== -1) {
      const value = JSON.stringify(first[again]!.slice(0, 100));
      return {
        names: [...first],
        note: `Line ${line} is taken as the header; its ${value} is also a value of that column, so it may be data.`,
      };
    }
  }
  return { names: [...first] };
}

/** Names that are unique without regard to case, as DuckDB needs them, and given to columns without one. */
export function columnNames(header: Header, width: number): { names: string[]; notes: string[] } {
  const digits = String(width - 1).length;
  const generated = (index: number) => `column${String(index).padStart(digits, '0')}`;
  const notes: string[] = [];
  const used = new Set<string>();
  const names = Array.from({ length: width }, (_, index) => {
    const given = header.names?.[index]?.trim() ?? '';
    const base = given === '' ? generated(index) : given;
    let name = base;
    for (let suffix = 1; used.has(name.toLowerCase()); suffix += 1) name = `${base}_${suffix}`;
    used.add(name.toLowerCase());
    if (header.names && name !== given) {
      notes.push(
        given === ''
          ? `Column ${index + 1} has no name in the header: it is called ${JSON.stringify(name)}.`
          : header.names.includes(given) && header.names.indexOf(given) < index
            ? `The header names ${JSON.stringify(given)} again in column ${index + 1}: that is called ${JSON.stringify(name)}.`
            : renamedNote(given, name, header.names),
      );
    }
    return name;
  });
  return { names, notes: limitNotes(notes, MAX_NOTES, 'columns were named like this') };
}

function noHeader(line: number): string {
  return `No header was found: line ${line} is data, and the columns are called column0, column1, ...`;
}

function columnKind(rows: readonly (readonly string[])[], index: number): Kind {
  const counts = new Map<Kind, number>();
  let filled = 0;
  for (const row of rows) {
    const kind = kindOf(row[index] ?? '');
    if (kind === 'empty') continue;
    filled += 1;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  if (filled === 0) return 'empty';
  for (const [kind, count] of counts) if (count >= MOSTLY * filled) return kind;
  return 'text';
}

function kindOf(field: string): Kind {
  const text = field.trim();
  if (text === '') return 'empty';
  if (/^[-+]?(\d[\d.,]*|[.,]\d+)(e[-+]?\d+)?%?$/i.test(text)) return 'number';
  if (/^(\d{4}-\d\d-\d\d([T ].*)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}( .*)?|\d{1,2}:\d\d(:\d\d.*)?)$/.test(text))
    return 'time';
  return /^(true|false)$/i.test(text) ? 'boolean' : 'text';
}
