/**
 * Callers by access tokens: JWTs of an OAuth authorization server for which this server is a resource server (specs: 2026-07-28
 * basic/authorization; RFC 9068). Its keys are found by its metadata (RFC 8414, OpenID Connect Discovery 1.0).
 */
import { OAuthError, OAuthErrorCode, type OAuthMetadata } from '@modelcontextprotocol/server';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import type { AuthSettings } from '../../platform/auth-settings.js';
import type { Logger } from '../../platform/log.js';
import type { Caller } from './caller.js';
import { callerOfClaims } from './claims.js';
import { ANSWER_LIMIT_MS, AuthenticationUnavailable, isCurrent, remoteKeys, verifyJwt } from './jwt.js';

/** How long a failed read of the metadata is answered without another, in milliseconds. */
const FAILURE_PAUSE_MS = 5_000;

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
   * @throws AuthenticationUnavailable
   */
  async callerOf(token: string): Promise<Caller> {
    const { oauthIssuer, oauthResource, oauthScope } = this.settings;
    const payload = await verifyJwt(token, {
      what: 'access token',
      issuer: oauthIssuer,
      audience: [oauthResource, withoutSlash(oauthResource), `${withoutSlash(oauthResource)}/`],
      keys: await this.#keySet(),
    }).catch((error: unknown) => {
      throw error instanceof AuthenticationUnavailable ? this.#unavailable(error) : error;
    });
    const caller = this.#callerOf(payload);
    if (oauthScope !== undefined && !caller.scopes.includes(oauthScope))
      throw new OAuthError(
        OAuthErrorCode.InsufficientScope,
        `The access token lacks the scope ${oauthScope}`,
      );
    return { ...caller, isValid: () => isCurrent(payload.exp!) };
  }

  /** The authorization server's metadata. @throws AuthenticationUnavailable */
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

  async #keySet(): Promise<JWTVerifyGetKey> {
    const { jwks_uri } = await this.#read();
    this.#keys ??= remoteKeys(jwks_uri);
    return this.#keys;
  }

  /** One read for all, kept once it has succeeded. */
  #read(): Promise<OAuthMetadata & { jwks_uri: string }> {
    if (this.#metadata) return this.#metadata;
    if (performance.now() - this.#failedAtMs < FAILURE_PAUSE_MS)
      return Promise.reject(new AuthenticationUnavailable(unavailableMessage(this.settings.oauthIssuer)));
    this.#metadata = readMetadata(this.settings.oauthIssuer);
    return this.#metadata.catch((error: unknown) => {
      this.#metadata = undefined;
      this.#failedAtMs = performance.now();
      throw this.#unavailable(error);
    });
  }

  #unavailable(error: unknown): AuthenticationUnavailable {
    const { oauthIssuer: issuer } = this.settings;
    this.logger.warn({ issuer, err: error }, 'the authorization server cannot be asked');
    return new AuthenticationUnavailable(unavailableMessage(issuer), { cause: error });
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

function unavailableMessage(issuer: string): string {
  return `access tokens can't be checked: ${issuer} does not answer`;
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}
