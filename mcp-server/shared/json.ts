/**
 * Parser for untrusted JSON, used for all bodies and lines. Its limits are applied to the text, since parsing and validating
 * could block the process for seconds or overflow the stack.
 */
import { ProtocolErrorCode } from '@modelcontextprotocol/server';

/** Maximum nesting of objects and arrays. */
export const MAX_DEPTH = 64;
/** Maximum number of object members in total: validators visit each several times. */
export const MAX_MEMBERS = 10_000;
/** Maximum number of values in total: object members and array items. */
export const MAX_VALUES = 50_000;

/** Refused text; the kind `syntax` means that it isn't JSON. */
export class JsonRefusal extends Error {
  override name = 'JsonRefusal';

  constructor(
    readonly kind: 'syntax' | 'too_large' | 'surrogate',
    /** The expected and the actual value, without the place. */
    message: string,
    /** The `id` of the outermost object, i.e. of the JSON-RPC request to be answered; null if it has none. */
    readonly id: string | number | null = null,
    /** Place of a string within the value; empty for the value as a whole. */
    readonly path: readonly string[] = [],
  ) {
    super(message);
  }
}

/**
 * Parses JSON.
 *
 * @throws JsonRefusal `syntax`; `too_large` beyond {@link MAX_DEPTH}, {@link MAX_MEMBERS} or {@link MAX_VALUES}; `surrogate` for
 *   a string with a lone surrogate, which isn't Unicode text and which Temporal couldn't store
 */
export function parseJson(text: string): unknown {
  const { id, ...sizes } = measure(text);
  for (const [what, most, got] of [
    ['levels of nesting', MAX_DEPTH, sizes.depth],
    ['members of objects in all', MAX_MEMBERS, sizes.members],
    ['members and items in all', MAX_VALUES, sizes.values],
  ] as const)
    if (got > most) throw new JsonRefusal('too_large', `expected at most ${most} ${what}; got ${got}`, id());
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new JsonRefusal('syntax', (error as Error).message);
  }
  // In text decoded from bytes, lone surrogates are always escaped.
  const path = /\\u[dD][89a-fA-F]/.test(text) ? loneSurrogate(value) : undefined;
  if (path)
    throw new JsonRefusal(
      'surrogate',
      'expected Unicode text; got half of a surrogate pair (\\ud800 to \\udfff)',
      id(),
      path,
    );
  return value;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

interface Measure {
  depth: number;
  /** Colons outside of strings. */
  members: number;
  /** Commas and opening brackets outside of strings: at least the number of members and items. */
  values: number;
  id: () => string | number | null;
}

/** Measures JSON in one pass, without parsing it. For text that isn't JSON, the numbers are meaningless. */
function measure(text: string): Measure {
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
    // [ and {, like ] and }, differ only in bit 0x20.
    else if ((code | 0x20) === 0x7b) {
      values += 1;
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if ((code | 0x20) === 0x7d) depth -= 1;
  }
  return { depth: deepest, members, values, id: () => (idAt < 0 ? null : idIn(text, idAt)) };
}

/** Index of the closing quote of the string that begins at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) break;
    if (code === BACKSLASH) at += 1;
  }
  return at;
}

/** A JSON-RPC ID: a string or a number. */
function idIn(text: string, start: number): string | number | null {
  const match = /^\s*("(?:[^"\\]|\\.){0,1000}"|-?\d{1,20}(?:\.\d{1,20})?)\s*[,}]/.exec(
    text.slice(start, start + 2_100),
  );
  try {
    return match ? (JSON.parse(match[1]!) as string | number) : null;
  } catch {
    return null;
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

/** Path of the first string or member name that has a lone surrogate. */
function loneSurrogate(value: unknown): string[] | undefined {
  if (typeof value === 'string') return isWellFormed(value) ? undefined : [];
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    if (!isWellFormed(key)) return [JSON.stringify(key)];
    const path = loneSurrogate(inner);
    if (path) return [key, ...path];
  }
  return undefined;
}

function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** JSON-RPC error for a refused message, whose ID is {@link JsonRefusal.id}. */
export function asRpcError({ kind, message, path }: JsonRefusal): { code: number; message: string } {
  const code = {
    syntax: ProtocolErrorCode.ParseError,
    too_large: ProtocolErrorCode.InvalidRequest,
    surrogate: ProtocolErrorCode.InvalidParams,
  }[kind];
  return { code, message: `${path.join('.') || 'message'}: ${message}` };
}
