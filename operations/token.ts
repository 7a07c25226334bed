/**
 * Tokens and their workflow IDs. Not for Temporal's sandbox (uses Node's crypto).
 */
import { createHmac, randomBytes } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';
import { LonghaulError } from './errors.js';
import { ANONYMOUS } from './wire.js';

/**
 * Longest token that a client may choose, and longest token overall, in characters. PostgreSQL keeps workflow IDs of 255 characters, and
 * that of another principal than the anonymous one has a tag of 22 and a dot before the token.
 */
const LONGEST_CLIENT_TOKEN = 232;
const LONGEST_TOKEN = 1_000;
/**
 * Alphabet of tokens: includes the characters of ARNs and other systems' IDs (SEP-1391, "Integration with Existing
 * Architectures"). `.` and `..` are excluded: in a path they name another folder, and clients resolve them before they send a
 * request.
 */
const TOKEN = /^(?!\.{1,2}$)[A-Za-z0-9._~:/+=@,-]+$/;

/** Alphabet of tokens, for messages. */
export const TOKEN_FORM = 'characters of A-Z a-z 0-9 . _ ~ : / + = @ , - and neither "." nor ".."';

/** A new token: 128 random bits in hexadecimal, which no command line parses as a flag. */
export function newToken(): string {
  return randomBytes(16).toString('hex');
}

/**
 * @throws LonghaulError `invalid_arguments` when a client's own token doesn't have the documented form
 */
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

/** Whether an operation can have this token. */
export function isToken(text: string): boolean {
  return text.length <= LONGEST_TOKEN && TOKEN.test(text);
}

/**
 * The workflow ID of a token. For the anonymous principal it is the token, byte for byte; for others it is
 * prefixed by a keyed tag of the principal, so that nobody else can address or detect it.
 *
 * @throws LonghaulError `not_found` for a text that no operation can have as its token
 */
export function workflowIdOf(principal: string, token: string, secret: Buffer): string {
  if (!isToken(token)) throw new LonghaulError('not_found', 'operation not found');
  return principal === ANONYMOUS ? token : `${hmac(secret, 'principal', principal).slice(0, 22)}.${token}`;
}

/** Whether a text has the form of {@link workflowIdOf} for a principal other than the anonymous one. */
export function isWorkflowIdOfPrincipal(text: string): boolean {
  return isToken(text) && /^[A-Za-z0-9_-]{22}\../.test(text);
}

/** Token derived from an idempotency key: the same for the same principal, tool and key. */
export function tokenOfIdempotencyKey(principal: string, tool: string, key: string, secret: Buffer): string {
  return Buffer.from(hmac(secret, 'idempotency', principal, tool, key), 'base64url')
    .toString('hex')
    .slice(0, 32);
}

/** Token of the operation that resumes another one. */
export function tokenOfResumed(principal: string, token: string, attempt: number, secret: Buffer): string {
  return Buffer.from(hmac(secret, 'resume', principal, token, String(attempt)), 'base64url')
    .toString('hex')
    .slice(0, 32);
}

/** Digest of a start: distinguishes a repeated start from a different one under the same token. */
export function digestOf(tool: string, args: unknown, secret: Buffer): string {
  return hmac(secret, 'arguments', tool, canonicalJson(args)).slice(0, 32);
}

function hmac(secret: Buffer, ...parts: string[]): string {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest('base64url');
}
