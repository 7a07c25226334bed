/**
 * Finds the variables that a bash script expands. It parses quotes, comments and here-documents, so a `$NAME` that bash leaves alone
 * doesn't count. It may miss variables of complex scripts, but invents none.
 */

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;

/** Names in `$NAME` and `${NAME...}`. Forms that give a default or test whether one is set count too. */
export function expandedVariables(script: string): Set<string> {
  const found = new Set<string>();
  scan(script, found);
  return found;
}

/** Whether the script assigns the variable, or tests whether it is set. */
export function isAssignedOrTested(script: string, name: string): boolean {
  return [
    // NAME=..., export NAME, read NAME, for NAME in, printf -v NAME
    String.raw`(^|[\s;&|({\x60])${name}(\[[^\]]*\])?\+?=`,
    String.raw`\b(read|for|select|export|declare|local|typeset|readonly|mapfile|readarray|getopts|printf\s+-v)\b[^\n;|&]{0,300}\b${name}\b`,
    // ${NAME:-default}, ${NAME+set}, ${NAME:?message}
    String.raw`\$\{${name}:?[-=+?]`,
    // [ -n "$NAME" ], test -w "$NAME", [[ -v NAME ]], [[ $NAME ]]
    String.raw`(\[|\btest|!|&&|\|\||-a|-o)\s+(!\s+)?-[a-z]\s+"?(\$\{?)?${name}\b`,
    String.raw`(\[|\btest)\s+(!\s+)?"?\$\{?${name}\}?"?\s*(\]|$|;|&&|\|\|)`,
  ].some((pattern) => new RegExp(pattern, 'm').test(script));
}

/** Maximum number of unterminated here-documents to try in one script. */
const MAX_SHIFTS = 20;

/** Context of the scanner: commands up to this closing character, or double quotes. */
type Mode = ')' | '`' | '"' | 'top';

function scan(text: string, found: Set<string>, isHereDocument = false): void {
  const modes: Mode[] = [isHereDocument ? '"' : 'top'];
  const documents: HereDocument[] = [];
  let shifts = 0;
  for (let at = 0; at < text.length; at += 1) {
    const mode = modes.at(-1)!;
    const char = text[at]!;
    if (char === '\\') at += 1;
    else if (char === '$') at = expansion(text, at, mode, modes, found);
    else if (char === '`' && mode === '`') modes.pop();
    else if (char === '`') modes.push('`');
    else if (mode === '"') {
      if (char === '"' && !(isHereDocument && modes.length === 1)) modes.pop();
    } else if (char === '"') modes.push('"');
    else if (char === "'") at = indexOrEnd(text, "'", at + 1);
    else if (char === '(') modes.push(')');
    else if (char === ')' && mode === ')') modes.pop();
    else if (char === '#' && /(^|[\s;&|(])$/.test(text.slice(Math.max(0, at - 1), at)))
      at = indexOrEnd(text, '\n', at) - 1;
    else if (char === '<' && text[at + 1] === '<') at = hereDocument(text, at, documents);
    else if (char === '\n') {
      for (const one of documents.splice(0)) {
        const end = shifts > MAX_SHIFTS ? undefined : skipDocument(text, at, one, found);
        if (end === undefined) shifts += 1;
        else at = end;
      }
    }
  }
}

/** @returns position of the last character read */
function expansion(text: string, at: number, mode: Mode, modes: Mode[], found: Set<string>): number {
  const next = text[at + 1];
  if (next === '(') {
    modes.push(')');
    return at + 1;
  }
  if (next === "'" && mode !== '"') {
    let end = at + 2;
    while (end < text.length && text[end] !== "'") end += text[end] === '\\' ? 2 : 1;
    return end;
  }
  const isBraced = next === '{';
  NAME.lastIndex = at + (isBraced ? (/[!#]/.test(text[at + 2] ?? '') ? 3 : 2) : 1);
  const [name] = NAME.exec(text) ?? [];
  if (name === undefined) return at;
  found.add(name);
  return NAME.lastIndex - 1;
}

interface HereDocument {
  delimiter: string;
  isQuoted: boolean;
}

function hereDocument(text: string, at: number, documents: HereDocument[]): number {
  const match = /^<<-?[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([\w.-]+))/.exec(text.slice(at, at + 200));
  if (text[at + 2] === '<' || !match) return at + 2;
  const [all, single, double, plain] = match;
  const isQuoted = plain === undefined || all.includes('\\');
  documents.push({ delimiter: (single ?? double ?? plain)!, isQuoted });
  return at + all.length - 1;
}

/** @returns the position before the newline that ends the document; undefined if no line ends it, as in `$((1 << 2))` */
function skipDocument(
  text: string,
  at: number,
  { delimiter, isQuoted }: HereDocument,
  found: Set<string>,
): number | undefined {
  for (let start = at + 1; start < text.length;) {
    const end = indexOrEnd(text, '\n', start);
    if (text.slice(start, end).trim() === delimiter) {
      if (!isQuoted) scan(text.slice(at + 1, start), found, true);
      return end - 1;
    }
    start = end + 1;
  }
  return undefined;
}

function indexOrEnd(text: string, char: string, from: number): number {
  const found = text.indexOf(char, from);
  return found < 0 ? text.length : found;
}
