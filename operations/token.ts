/** Tokens and their workflow IDs. Not for Temporal's sandbox (uses Node's crypto). */
import { createHmac, randomBytes } from 'node:crypto';
import { canonicalJson } from './json/canonical-json.js';
import { LonghaulError } from './errors.js';
import { ANONYMOUS } from './wire/index.js';

/**
 * Longest token that a client may choose, and longest token overall, in characters. PostgreSQL keeps workflow IDs of 255 characters, and a
 * named principal's ID adds a tag of 22 and a dot.
 */
const LONGEST_CLIENT_TOKEN = 232;
const LONGEST_TOKEN = 1_000;
/**
 * Alphabet of tokens, with the characters of ARNs and other systems' IDs (SEP-1391, "Integration with Existing Architectures"). It excludes
 * `.` and `..`, which clients resolve in paths before they send a request.
 */
const TOKEN = /^(?!\.{1,2}$)[A-Za-z0-9._~:/+=@,-]+$/;

export const TOKEN_FORM = 'characters of A-Z a-z 0-9 . _ ~ : / + = @ , - and neither "." nor ".."';

/** 128 random bits in hexadecimal, which no command line takes for a flag. */
export function newToken(): string {
  return randomBytes(16).toString('hex');
}

/** @throws LonghaulError `invalid_arguments` when a client's own token doesn't have the documented form */
export function assertClientToken(token: string): void {
  if (token.length > LONGEST_CLIENT_TOKEN || !TOKEN.test(token)) {
    throw new LonghaulError(
      'invalid_arguments',
      `token: expected 1 to ${LONGEST_CLIENT_TOKEN} ${TOKEN_FORM}; got ${shown(token)}`,
    );
  }
}

function shown(token: string): string {
  return token.length > LONGEST_CLIENT_TOKEN
    ? `${token.length} characters, ${JSON.stringify(token.slice(0, 40))}...`
    : JSON.stringify(token);
}

export function isToken(text: string): boolean {
  return text.length <= LONGEST_TOKEN && TOKEN.test(text);
}

/**
 * The workflow ID of a token: the token itself for the anonymous principal. For others, a keyed tag of the principal comes first, so nobody
 * else can address or detect it.
 *
 * @throws LonghaulError `not_found` for a text that no operation can have as its token
 */
export function workflowIdOf(principal: string, token: string, secret: Buffer): string {
  if (!isToken(token)) throw new LonghaulError('not_found', 'operation not found');
  return principal === ANONYMOUS ? token : `${hmac(secret, 'principal', principal).slice(0, 22)}.${token}`;
}

/** Whether a text has the form of {@link workflowIdOf} for a named principal. */
export function isWorkflowIdOfPrincipal(text: string): boolean {
  return isToken(text) && /^[A-Za-z0-9_-]{22}\../.test(text);
}

/** Derives a token from an idempotency key: the same for the same principal, tool and key. */
export function tokenOfIdempotencyKey(principal: string, tool: string, key: string, secret: Buffer): string {
  return derivedToken(secret, 'idempotency', principal, tool, key);
}

export function tokenOfResumed(principal: string, token: string, attempt: number, secret: Buffer): string {
  return derivedToken(secret, 'resume', principal, token, String(attempt));
}

function derivedToken(secret: Buffer, ...parts: string[]): string {
  return Buffer.from(hmac(secret, ...parts), 'base64url').toString('hex', 0, 16);
}

/** Digest of a start: distinguishes a repeated start from a different one under the same token. */
export function digestOf(tool: string, args: unknown, secret: Buffer): string {
  return hmac(secret, 'arguments', tool, canonicalJson(args)).slice(0, 32);
}

function hmac(secret: Buffer, ...parts: string[]): string {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest('base64url');
}
