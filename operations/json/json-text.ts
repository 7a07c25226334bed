/** Scans JSON text for sizes, and numbers that a double can't hold. In Node.js 20, JSON.parse gives no access to the source text. */

/** Sizes of a text, and where its ID is; meaningless if the text isn't JSON. */
export interface JsonScan {
  /** Levels of nesting. */
  depth: number;
  members: number;
  /** Commas and opening brackets: at least the number of members and items. */
  values: number;
  /** Index after `"id":` in the outermost object; -1 if it has none. */
  idAt: number;
}

/** A number that parsing would change. */
export interface InexactNumber {
  path: string[];
  number: string;
}

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** Length in characters from which an integer, and a fraction, may be inexact. */
const INEXACT_INTEGER_FROM = 16;
const INEXACT_FRACTION_FROM = 300;
/** A text without a match has only exact numbers. */
const MAY_BE_INEXACT = /\d{16}|\d[eE]/;
/** Characters of a number that a message shows. */
const SHOWN_CHARACTERS = 40;

/** Scans a text once, without parsing it. @param visit gets the range of each number that may be inexact */
export function scanJson(text: string, visit: (start: number, end: number) => void): JsonScan {
  let depth = 0;
  let deepest = 0;
  let members = 0;
  let values = 0;
  let idAt = -1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (depth === 1 && end - at === 3 && text.startsWith('"id"', at)) {
        let next = end + 1;
        while (isSpace(text.charCodeAt(next))) next += 1;
        if (text.charCodeAt(next) === COLON) idAt = next + 1;
      }
      at = end;
    } else if (code === COMMA) values += 1;
    else if (code === COLON) members += 1;
    else if (code === MINUS || isDigit(code)) {
      const start = at;
      let inexactFrom = INEXACT_INTEGER_FROM;
      for (let next = text.charCodeAt(at + 1); isInNumber(next); next = text.charCodeAt(at + 1)) {
        if (next === POINT) inexactFrom = INEXACT_FRACTION_FROM;
        else if (isExponent(next)) inexactFrom = 0;
        at += 1;
      }
      if (at + 1 - start >= inexactFrom) visit(start, at + 1);
    }
    // [ and {, like ] and }, differ only in bit 0x20.
    else if ((code | 0x20) === OPENING_BRACE) {
      values += 1;
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if ((code | 0x20) === CLOSING_BRACE) depth -= 1;
  }
  return { depth: deepest, members, values, idAt };
}

/**
 * Whether a double can't hold a JSON number: integers beyond 2^53-1 in magnitude (RFC 7493, section 2.2), and numbers that would become
 * infinite or 0. Rounding a fraction is fine.
 */
export function isInexact(number: string): boolean {
  return /^-?\d+$/.test(number) ? !Number.isSafeInteger(Number(number)) : isOutOfRange(number);
}

function isOutOfRange(number: string): boolean {
  const value = Number(number);
  return !Number.isFinite(value) || (value === 0 && /^[^eE]*[1-9]/.test(number));
}

export function inexactNumberIn(json: string): InexactNumber | undefined {
  if (!MAY_BE_INEXACT.test(json)) return undefined;
  let found: [start: number, end: number] | undefined;
  scanJson(json, (start, end) => {
    if (!found && isInexact(json.slice(start, end))) found = [start, end];
  });
  return found && inexactNumberAt(json, ...found);
}

export function inexactNumberAt(json: string, start: number, end: number): InexactNumber {
  return { path: pathTo(json, start), number: json.slice(start, end) };
}

/** Message with the expected and the actual number. @param advice verb of the advice. Default: `send` */
export function inexactNumberMessage(number: string, advice: 'send' | 'write' = 'send'): string {
  const shown = number.length > SHOWN_CHARACTERS ? `${number.slice(0, SHOWN_CHARACTERS)}...` : number;
  return `expected a number that keeps its digits (integers up to ${Number.MAX_SAFE_INTEGER}); got ${shown}; ${advice} it as a string`;
}

/**
 * Parses JSON from programs that may write any integer. Numbers that would change become strings. Integers beyond 2^53-1 stay numbers if
 * JavaScript would write the same digits.
 *
 * @throws SyntaxError
 */
export function parseKeepingDigits(json: string): unknown {
  if (!MAY_BE_INEXACT.test(json)) return JSON.parse(json) as unknown;
  let quoted = '';
  let copied = 0;
  scanJson(json, (start, end) => {
    const number = json.slice(start, end);
    if (!isInexact(number) || String(Number(number)) === number) return;
    quoted += `${json.slice(copied, start)}"${number}"`;
    copied = end;
  });
  return JSON.parse(quoted + json.slice(copied)) as unknown;
}

/** Member names and indexes that lead to an index of the text. */
function pathTo(json: string, index: number): string[] {
  const open: { item: number | undefined; key: string; isKeyNext: boolean }[] = [];
  for (let at = 0; at < index; at += 1) {
    const code = json.charCodeAt(at);
    const inner = open.at(-1);
    if (code === QUOTE) {
      const end = endOfString(json, at);
      if (inner?.isKeyNext) {
        inner.key = JSON.parse(json.slice(at, end + 1)) as string;
        inner.isKeyNext = false;
      }
      at = end;
    } else if (code === COMMA && inner) {
      if (inner.item === undefined) inner.isKeyNext = true;
      else inner.item += 1;
    } else if (code === OPENING_BRACKET) open.push({ item: 0, key: '', isKeyNext: false });
    else if (code === OPENING_BRACE) open.push({ item: undefined, key: '', isKeyNext: true });
    else if ((code | 0x20) === CLOSING_BRACE) open.pop();
  }
  return open.map(({ item, key }) => (item === undefined ? key : String(item)));
}

/** Index of the closing quote of the string at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) break;
    if (code === BACKSLASH) at += 1;
  }
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isExponent(code: number): boolean {
  return (code | 0x20) === 0x65;
}

function isInNumber(code: number): boolean {
  return isDigit(code) || code === MINUS || code === PLUS || code === POINT || isExponent(code);
}
