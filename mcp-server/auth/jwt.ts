/** Verification of JWTs that say who a caller is (RFC 7519; RFC 8725). */
import {
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';
import {
  AuthenticationUnavailable,
  CredentialUnknown,
  InvalidToken,
  type Unavailability,
} from './challenge.js';

/** Asymmetric signatures only: with a shared secret, anyone who can verify a token could make one. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
export const CLOCK_TOLERANCE_SECONDS = 5;
/** Time limit of a request for keys, metadata or introspection, in milliseconds. */
const ANSWER_LIMIT_MS = 5_000;
/** How long a failed request isn't repeated, in milliseconds, even in a flood of tokens. */
export const FAILURE_PAUSE_MS = 1_000;

export interface JwtRules {
  /** The claim `iss`, compared without normalization. */
  issuer: string;
  /** The claim `aud` must have one of them. */
  audience: string[];
}

/**
 * The claims of a JWT with a valid signature, issuer, audience and expiry.
 *
 * @throws OAuthError `invalid_token`; {@link CredentialUnknown} without a valid signature
 * @throws AuthenticationUnavailable when its keys can't be read
 */
export async function verifyJwt(
  token: string,
  { issuer, audience }: JwtRules,
  keys: JWTVerifyGetKey,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    });
    return payload;
  } catch (error) {
    if (error instanceof AuthenticationUnavailable) throw error;
    if (error instanceof errors.JWTExpired) throw new InvalidToken('The token has expired');
    if (error instanceof errors.JWTClaimValidationFailed)
      throw new InvalidToken(`The claim ${error.claim} of the token is invalid`);
    // An unknown key, a bad signature, `alg` none, or text that isn't a JWT.
    throw new CredentialUnknown('The token is invalid');
  }
}

/**
 * Keys at an address, read on demand (RFC 7517). By jose's defaults a read is valid for ten minutes, and an unknown key causes one
 * at most every 30 seconds. Failing to read keys is another error than an unknown key.
 */
export function remoteKeys(url: string, unavailable: Unavailability): JWTVerifyGetKey {
  // Only the request pauses: tokens of known keys still pass.
  const keys = createRemoteJWKSet(new URL(url), { [customFetch]: pausing(fetchOk) });
  return async (header, token) => {
    try {
      return await keys(header, token);
    } catch (error) {
      if (
        error instanceof errors.JWKSNoMatchingKey ||
        error instanceof errors.JWKSMultipleMatchingKeys ||
        error instanceof errors.JOSENotSupported
      )
        throw error;
      throw unavailable(`${url} does not answer`, error);
    }
  };
}

/** Repeats a failure for a while instead of calling again. */
export function pausing<Args extends unknown[], Result>(
  call: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  let failed: { error: unknown; atMs: number } | undefined;
  return async (...args) => {
    if (failed && performance.now() - failed.atMs < FAILURE_PAUSE_MS) throw failed.error;
    try {
      return await call(...args);
    } catch (error) {
      failed = { error, atMs: performance.now() };
      throw error;
    }
  };
}

/** A response within the time limit. @throws Error for a status other than success */
export async function fetchOk(url: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS), ...init });
  if (!response.ok) throw new Error(`${url}: expected an answer; got HTTP ${response.status}`);
  return response;
}

/** Whether text has the form of a signed JWT (RFC 7515, section 3.1), unlike an opaque token. */
export function isJwt(text: string): boolean {
  try {
    return text.split('.').length === 3 && decodeProtectedHeader(text).alg !== undefined;
  } catch {
    return false;
  }
}

/** Whether a credential with this expiry is still valid. @param exp in epoch seconds */
export function isCurrent(exp: number): boolean {
  return Date.now() < (exp + CLOCK_TOLERANCE_SECONDS) * 1_000;
}
