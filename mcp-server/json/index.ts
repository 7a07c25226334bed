/**
 * Parser for untrusted JSON, used for all bodies and lines. It checks limits on the text, because parsing and validating could
 * block the process for seconds or overflow the stack.
 */
import { isUtf8 } from 'node:buffer';
import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { isObject } from '../../operations/json/is-object.js';
import {
  inexactNumberAt,
  inexactNumberMessage,
  isInexact,
  scanJson,
} from '../../operations/json/json-text.js';

export const MAX_DEPTH = 64;
/** Maximum object members in total. Validators visit each several times. */
export const MAX_MEMBERS = 10_000;
/** Maximum values in total: object members and array items. */
export const MAX_VALUES = 50_000;

/** Refused text. `encoding` means that it isn't UTF-8, `syntax` that it isn't JSON. */
export class JsonRefusal extends Error {
  override name = 'JsonRefusal';

  constructor(
    readonly kind: 'encoding' | 'syntax' | 'too_large' | 'surrogate' | 'number',
    /** The expected and the actual value, without the place. */
    message: string,
    /** The `id` of the JSON-RPC request to answer. Null without one, or if it is unreadable. */
    readonly id: string | number | null = null,
    /** Place of a string or number within the value. Empty for the whole value. */
    readonly path: readonly string[] = [],
  ) {
    super(message);
  }
}

/**
 * @param json text, or UTF-8 bytes. Ignores a byte order mark before them (RFC 8259, section 8.1)
 * @throws JsonRefusal `encoding`; `syntax`; `too_large` beyond {@link MAX_DEPTH}, {@link MAX_MEMBERS} or {@link MAX_VALUES};
 *   `surrogate` for a string with a lone surrogate, which isn't Unicode text and which Temporal couldn't store; `number` for one
 *   that a double can't hold ({@link isInexact})
 */
export function parseJson(json: string | Uint8Array): unknown {
  const text = typeof json === 'string' ? json : withoutByteOrderMark(decodeUtf8(json));
  let inexact: [start: number, end: number] | undefined;
  const { idAt, ...sizes } = scanJson(text, (start, end) => {
    if (!inexact && isInexact(text.slice(start, end))) inexact = [start, end];
  });
  const id = () => (idAt < 0 ? null : idIn(text, idAt));
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
  // A response's ID belongs to a request of this server. An error with it would answer another request of the client.
  const requestId = () => (isObject(value) && 'method' in value ? id() : null);
  if (inexact) {
    const { path, number } = inexactNumberAt(text, ...inexact);
    throw new JsonRefusal('number', inexactNumberMessage(number), requestId(), path);
  }
  // Text decoded from bytes always has lone surrogates escaped.
  const path = /\\u[dD][89a-fA-F]/.test(text) ? loneSurrogate(value) : undefined;
  if (path)
    throw new JsonRefusal(
      'surrogate',
      'expected Unicode text; got half of a surrogate pair (\\ud800 to \\udfff)',
      requestId(),
      path,
    );
  return value;
}

const BYTE_ORDER_MARK = '\uFEFF';

function withoutByteOrderMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** Keeps a byte order mark. @throws JsonRefusal `encoding` */
export function decodeUtf8(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new JsonRefusal('encoding', 'expected UTF-8; got other bytes');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

/** A JSON-RPC ID: a string or a number. Null for anything else. */
function idIn(text: string, start: number): string | number | null {
  const match = /^\s*("(?:[^"\\]|\\.){0,1000}"|-?\d{1,20}(?:\.\d{1,20})?)\s*[,}]/.exec(
    text.slice(start, start + 2_100),
  );
  try {
    const id = match && (JSON.parse(match[1]!) as string | number);
    return typeof id === 'number' && isInexact(match![1]!) ? null : id;
  } catch {
    return null;
  }
}

/** Path of the first string or member name with a lone surrogate. */
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

/** The JSON-RPC error for a refused message. {@link JsonRefusal.id} has the ID. */
export function asRpcError({ kind, message, path }: JsonRefusal): { code: number; message: string } {
  const code = {
    encoding: ProtocolErrorCode.ParseError,
    syntax: ProtocolErrorCode.ParseError,
    too_large: ProtocolErrorCode.InvalidRequest,
    surrogate: ProtocolErrorCode.InvalidParams,
    number: isRequestId(path) ? ProtocolErrorCode.InvalidRequest : ProtocolErrorCode.InvalidParams,
  }[kind];
  return { code, message: `${path.join('.') || 'message'}: ${message}` };
}

/** Whether a path leads to the ID of a message, alone or in a batch. */
function isRequestId([first = '', second, ...rest]: readonly string[]): boolean {
  return first === 'id' || (/^\d+$/.test(first) && second === 'id' && rest.length === 0);
}
