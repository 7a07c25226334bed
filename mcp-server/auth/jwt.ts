/** Verification of JWTs that say who a caller is (RFC 7519; RFC 8725): access tokens, and what a gateway asserts. */
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import {
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type FetchImplementation,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';
import { CredentialUnknown } from './challenge.js';

/** Asymmetric signatures only: with a shared secret, anyone who can verify a token could make one. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Permitted difference of clocks, in seconds. */
export const CLOCK_TOLERANCE_SECONDS = 5;
/** Time limit of a request for keys, metadata or introspection, in milliseconds. */
export const ANSWER_LIMIT_MS = 5_000;
/** How long a failed question counts, in milliseconds: a flood of tokens doesn't repeat it at once. */
export const FAILURE_PAUSE_MS = 1_000;
/** Minimum time between two reads of the keys because a token names an unknown one, in milliseconds. */
const KEYS_COOLDOWN_MS = 30_000;
/** How long keys are used without being read again, in milliseconds. */
const KEYS_MAX_AGE_MS = 600_000;

/** The server that a credential is checked with can't be reached: the credential may be valid or not. */
export class AuthenticationUnavailable extends Error {
  override name = 'AuthenticationUnavailable';
}

export interface JwtRules {
  /** Name in messages: `access token`. */
  what: string;
  issuer: string;
  /** One of them has to be in the claim `aud`. */
  audience: string[];
  keys: JWTVerifyGetKey;
}

/**
 * The claims of a JWT with a valid signature, issuer, audience and expiry.
 *
 * @throws OAuthError `invalid_token`; {@link CredentialUnknown} without a valid signature
 * @throws AuthenticationUnavailable when its keys can't be read
 */
export async function verifyJwt(
  token: string,
  { what, issuer, audience, keys }: JwtRules,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, readable(keys), {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    });
    return payload;
  } catch (error) {
    if (error instanceof AuthenticationUnavailable) throw error;
    if (error instanceof errors.JWTExpired)
      throw new OAuthError(OAuthErrorCode.InvalidToken, `The ${what} has expired`);
    if (error instanceof errors.JWTClaimValidationFailed)
      throw new OAuthError(OAuthErrorCode.InvalidToken, `The claim ${error.claim} of the ${what} is invalid`);
    // An unknown key, a bad signature, `alg` none, or text that is no JWT.
    throw new CredentialUnknown(`The ${what} is invalid`);
  }
}

/** Keys at an address, which are read when they are needed (RFC 7517). */
export function remoteKeys(url: string): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(url), {
    timeoutDuration: ANSWER_LIMIT_MS,
    cooldownDuration: KEYS_COOLDOWN_MS,
    cacheMaxAge: KEYS_MAX_AGE_MS,
    [customFetch]: pausingFetch(),
  });
}

/** A fetch that fails without a request for a while after a failure. */
function pausingFetch(): FetchImplementation {
  let failedAtMs = -Infinity;
  return async (url, options) => {
    if (performance.now() - failedAtMs < FAILURE_PAUSE_MS) throw new Error(`${url} has just failed`);
    try {
      const response = await fetch(url, options);
      if (!response.ok) throw new Error(`${url}: expected keys; got HTTP ${response.status}`);
      return response;
    } catch (error) {
      failedAtMs = performance.now();
      throw error;
    }
  };
}

/** Whether text has the form of a signed JWT (RFC 7515, section 3.1), not of an opaque token. */
export function isJwt(text: string): boolean {
  try {
    return text.split('.').length === 3 && decodeProtectedHeader(text).alg !== undefined;
  } catch {
    return false;
  }
}

/** Whether a credential with this expiry may still be used. @param exp seconds since 1970 */
export function isCurrent(exp: number): boolean {
  return Date.now() < (exp + CLOCK_TOLERANCE_SECONDS) * 1_000;
}

/** The keys; a failure to read them is another error than a token that names an unknown one. */
function readable(keys: JWTVerifyGetKey): JWTVerifyGetKey {
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
      throw new AuthenticationUnavailable('the keys cannot be read', { cause: error });
    }
  };
}
