/**
 * Callers by access tokens: JWTs of an OAuth authorization server for which this server is a resource server (specs: 2026-07-28
 * basic/authorization; RFC 9068). Its keys are found by its metadata (RFC 8414, OpenID Connect Discovery 1.0).
 */
import { OAuthError, OAuthErrorCode, type OAuthMetadata } from '@modelcontextprotocol/server';
import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import type { AuthSettings } from '../../platform/auth-settings.js';
import type { Logger } from '../../platform/log.js';
import type { Caller } from './caller.js';
import { callerOfClaims } from './claims.js';

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
const CLOCK_TOLERANCE_SECONDS = 5;
/** Time limit of a request to the authorization server, in milliseconds. */
const ANSWER_LIMIT_MS = 5_000;
/** Minimum time between two reads of the keys because a token names an unknown one, in milliseconds. */
const KEYS_COOLDOWN_MS = 30_000;
/** How long keys are used without being read again, in milliseconds. */
const KEYS_MAX_AGE_MS = 600_000;
/** How long a failed read of the metadata is answered without another, in milliseconds. */
const FAILURE_PAUSE_MS = 5_000;

/** The authorization server can't be reached, so that nothing is known about a token. */
export class AuthorizationServerUnavailable extends Error {
  override name = 'AuthorizationServerUnavailable';
}

const metadataSchema = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: z.string().default(''),
  token_endpoint: z.string().default(''),
  response_types_supported: z.array(z.string()).default([]),
  jwks_uri: z.string(),
});

export type OAuthSettings = Pick<
  AuthSettings,
  'oauthScope' | 'oauthTenantClaim' | 'oauthSubjectClaim' | 'oauthGroupsClaim'
> & {
  oauthIssuer: string;
  oauthResource: string;
};

export class AccessTokens {
  #metadata: Promise<OAuthMetadata & { jwks_uri: string }> | undefined;
  #keys: JWTVerifyGetKey | undefined;
  #failedAtMs = -Infinity;

  constructor(
    private readonly settings: OAuthSettings,
    private readonly logger: Logger,
  ) {}

  /**
   * @throws OAuthError `invalid_token`, `insufficient_scope`
   * @throws AuthorizationServerUnavailable
   */
  async callerOf(token: string): Promise<Caller> {
    const { oauthIssuer, oauthResource, oauthScope } = this.settings;
    const keys = await this.#keySet();
    let payload: JWTPayload;
    try {
      ({ payload } = await jwtVerify(token, keys, {
        issuer: oauthIssuer,
        audience: [oauthResource, withoutSlash(oauthResource), `${withoutSlash(oauthResource)}/`],
        algorithms: ALGORITHMS,
        requiredClaims: ['exp'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
      }));
    } catch (error) {
      throw this.#refusal(error);
    }
    const caller = this.#callerOf(payload);
    if (oauthScope !== undefined && !caller.scopes.includes(oauthScope))
      throw new OAuthError(
        OAuthErrorCode.InsufficientScope,
        `The access token lacks the scope ${oauthScope}`,
      );
    const expiresAtMs = (payload.exp! + CLOCK_TOLERANCE_SECONDS) * 1_000;
    return { ...caller, isValid: () => Date.now() < expiresAtMs };
  }

  /** The authorization server's metadata. @throws AuthorizationServerUnavailable */
  async metadata(): Promise<OAuthMetadata> {
    return this.#read();
  }

  #callerOf(payload: JWTPayload): Omit<Caller, 'isValid'> {
    const { oauthTenantClaim, oauthSubjectClaim, oauthGroupsClaim, oauthIssuer } = this.settings;
    return callerOfClaims(payload, 'access token', {
      tenantClaim: oauthTenantClaim,
      tenant: new URL(oauthIssuer).host,
      subjectClaim: oauthSubjectClaim,
      groupsClaim: oauthGroupsClaim,
    });
  }

  #refusal(error: unknown): Error {
    if (error instanceof errors.JWTExpired)
      return new OAuthError(OAuthErrorCode.InvalidToken, 'The access token has expired');
    if (error instanceof errors.JWTClaimValidationFailed)
      return new OAuthError(
        OAuthErrorCode.InvalidToken,
        `The claim ${error.claim} of the access token is invalid`,
      );
    // An unknown key, a bad signature, `alg` none, or text that is no JWT.
    const isOfToken =
      error instanceof errors.JOSEError &&
      !(
        error instanceof errors.JWKSTimeout ||
        error instanceof errors.JWKSInvalid ||
        error.code === 'ERR_JOSE_GENERIC'
      );
    if (isOfToken) return new OAuthError(OAuthErrorCode.InvalidToken, 'The access token is invalid');
    return this.#unavailable(error);
  }

  async #keySet(): Promise<JWTVerifyGetKey> {
    const { jwks_uri } = await this.#read();
    this.#keys ??= createRemoteJWKSet(new URL(jwks_uri), {
      timeoutDuration: ANSWER_LIMIT_MS,
      cooldownDuration: KEYS_COOLDOWN_MS,
      cacheMaxAge: KEYS_MAX_AGE_MS,
    });
    return this.#keys;
  }

  /** One read for all, kept once it has succeeded. */
  #read(): Promise<OAuthMetadata & { jwks_uri: string }> {
    if (this.#metadata) return this.#metadata;
    if (performance.now() - this.#failedAtMs < FAILURE_PAUSE_MS)
      return Promise.reject(
        new AuthorizationServerUnavailable(`${this.settings.oauthIssuer} does not answer`),
      );
    this.#metadata = readMetadata(this.settings.oauthIssuer);
    return this.#metadata.catch((error: unknown) => {
      this.#metadata = undefined;
      this.#failedAtMs = performance.now();
      throw this.#unavailable(error);
    });
  }

  #unavailable(error: unknown): Error {
    const { oauthIssuer: issuer } = this.settings;
    this.logger.warn({ issuer, err: error }, 'the authorization server cannot be asked');
    return new AuthorizationServerUnavailable(`${issuer} does not answer`, { cause: error });
  }
}

/** Reads the metadata from the addresses of the specification, in its order (basic/authorization/authorization-server-discovery). */
async function readMetadata(issuer: string): Promise<OAuthMetadata & { jwks_uri: string }> {
  const { origin, pathname } = new URL(issuer);
  const path = withoutSlash(pathname);
  const addresses = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    ...(path === '' ? [] : [`${origin}${path}/.well-known/openid-configuration`]),
  ];
  let failure: unknown;
  for (const address of addresses) {
    try {
      const response = await fetch(address, {
        headers: { accept: 'application/json' },
        signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
      });
      if (!response.ok) throw new Error(`${address}: expected metadata; got HTTP ${response.status}`);
      const metadata = metadataSchema.parse(await response.json());
      // RFC 8414, section 3.3: compared as it is.
      if (metadata.issuer !== issuer)
        throw new Error(`${address}: expected the issuer ${issuer}; got ${metadata.issuer}`);
      return metadata;
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}
