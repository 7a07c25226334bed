/** Parses and validates request headers. */
import type { Context } from 'hono';
import { Problem } from './rendering/problems.js';

export const VISIBLE_ASCII = /^[!-~]([ -~]*[!-~])?$/;
export const LONGEST_KEY = 255;
export const LONGEST_SESSION = 200;

/** Whether a text has 1 to `most` visible ASCII characters, with spaces only between them. */
export function isVisibleAscii(text: string, most: number): boolean {
  return text.length <= most && VISIBLE_ASCII.test(text);
}

/**
 * The caller's key (draft-ietf-httpapi-idempotency-key-header-07): quoted as in the draft, or bare, as most clients send it.
 *
 * @throws Problem `invalid-idempotency-key`
 */
export function idempotencyKeyOf(c: Context): string | undefined {
  const header = c.req.header('idempotency-key');
  if (header === undefined) return undefined;
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header.trim());
  const key = quoted ? quoted[1]!.replaceAll(/\\(["\\])/g, '$1') : header;
  if (!isVisibleAscii(key, LONGEST_KEY))
    throw new Problem(
      'invalid-idempotency-key',
      `Idempotency-Key: expected 1 to ${LONGEST_KEY} visible ASCII characters; got ${key.length}${key.length > 0 && key.length <= LONGEST_KEY ? ', not all of them visible ASCII' : ''}`,
    );
  return key;
}

export interface Preferences {
  respondAsync: boolean;
  /** Seconds. */
  wait?: number;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const WORD = `(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*")`;
const PARAMETER = `${TOKEN}(?:\\s*=\\s*${WORD})?`;
// No backtracking: spaces between semicolons, and the rest after an unclosed quote, match in one place each.
const PREFERENCE = new RegExp(`^(${TOKEN})(?:\\s*=\\s*(${WORD}))?(?:\\s*;(?:\\s*${PARAMETER})?)*$`);

/** Parses `Prefer` (RFC 7240, section 2). Ignores malformed and unknown preferences and values. The first of repeated ones counts. */
export function preferencesOf(c: Context): Preferences {
  const preferences: Preferences = { respondAsync: false };
  const parts = c.req.header('prefer')?.match(/(?:"(?:[^"\\]|\\.)*"?|[^,"])+/g) ?? [];
  for (const part of parts) {
    const [, name = '', word] = PREFERENCE.exec(part.trim()) ?? [];
    const value = word?.replace(/^"(.*)"$/, '$1');
    if (name.toLowerCase() === 'respond-async' && !value) preferences.respondAsync = true;
    if (name.toLowerCase() === 'wait' && /^\d{1,9}$/.test(value ?? '')) preferences.wait ??= Number(value);
  }
  return preferences;
}
