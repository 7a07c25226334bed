/**
 * Reading JSON that anybody may have sent: the one place where bodies and lines are parsed. Its limits are applied to the
 * text, before parsing and validating would hold the process for seconds or overflow the stack.
 */
import { ProtocolErrorCode } from '@modelcontextprotocol/server';

/** Deepest nesting of objects and lists. */
export const MAX_DEPTH = 64;
/** Most members of objects, in all: validators look at each several times. */
export const MAX_MEMBERS = 10_000;
/** Most values, in all: members of objects and items of lists. */
export const MAX_VALUES = 50_000;

/** Text that isn't taken: `syntax` is no JSON at all. */
export class JsonRefusal extends Error {
  override name = 'JsonRefusal';

  constructor(
    readonly kind: 'syntax' | 'too_large' | 'surrogate',
    /** What was expected and what came, without the place. */
    message: string,
    /** The `id` of the outermost object, if it has one: the JSON-RPC request that is to be answered. */
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
 * @throws JsonRefusal `syntax`; `too_large` beyond {@link MAX_DEPTH}, {@link MAX_MEMBERS} or {@link MAX_VALUES}; `surrogate` for a string that isn't Unicode text (a surrogate without its other half), which Temporal couldn't store
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
  // Text that was decoded from bytes has none but escaped ones.
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
  /** Commas and opening brackets outside of strings: no fewer than there are members and items. */
  values: number;
  id: () => string | number | null;
}

/** Measures JSON without parsing it, in one pass. Of text that is no JSON, the numbers mean nothing. */
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
    // [ and {, ] and }: they differ in the same bit.
    else if ((code | 0x20) === 0x7b) {
      values += 1;
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if ((code | 0x20) === 0x7d) depth -= 1;
  }
  return { depth: deepest, members, values, id: () => (idAt < 0 ? null : idIn(text, idAt)) };
}

/** Where the string that begins here ends: at its closing quote, or with the text. */
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

/** Path of the first string, or name of a member, that has a lone surrogate. */
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

/** The JSON-RPC error that answers a message that isn't taken; its ID is {@link JsonRefusal.id}. */
export function asRpcError({ kind, message, path }: JsonRefusal): { code: number; message: string } {
  const code = {
    syntax: ProtocolErrorCode.ParseError,
    too_large: ProtocolErrorCode.InvalidRequest,
    surrogate: ProtocolErrorCode.InvalidParams,
  }[kind];
  return { code, message: `${path.join('.') || 'message'}: ${message}` };
}
