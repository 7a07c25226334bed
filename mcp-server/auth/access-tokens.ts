/**
 * Callers by access tokens of an OAuth authorization server for which this server is a resource server (specs: 2026-07-28
 * basic/authorization): JWTs (RFC 9068), and opaque tokens, which are introspected (RFC 7662). The server's keys and endpoints are
 * found by its metadata (RFC 8414, OpenID Connect Discovery 1.0).
 */
import { OAuthError, OAuthErrorCode, type OAuthMetadata } from '@modelcontextprotocol/server';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import type { Settings } from '../../platform/settings/index.js';
import { sparingly, type Logger } from '../../platform/log.js';
import type { Caller } from './caller.js';
import { CredentialUnknown } from './challenge.js';
import { callerOfClaims } from './claims.js';
import { Introspection, type IntrospectionClient, type IntrospectionEndpoint } from './introspection.js';
import {
  ANSWER_LIMIT_MS,
  AuthenticationUnavailable,
  isCurrent,
  isJwt,
  remoteKeys,
  verifyJwt,
} from './jwt.js';

/** How long a failed read of the metadata is answered without another, in milliseconds. */
const FAILURE_PAUSE_MS = 5_000;

const metadataSchema = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: z.string().default(''),
  token_endpoint: z.string().default(''),
  response_types_supported: z.array(z.string()).default([]),
  /** Missing where all tokens are opaque. */
  jwks_uri: z.url().optional(),
  introspection_endpoint: z.url().optional(),
  introspection_endpoint_auth_methods_supported: z.array(z.string()).optional(),
});

type Metadata = z.infer<typeof metadataSchema>;

export type OAuthSettings = Pick<
  Settings,
  | 'oauthScope'
  | 'oauthTenantClaim'
  | 'oauthSubjectClaim'
  | 'oauthGroupsClaim'
  | 'oauthIntrospection'
  | 'oauthIntrospectionEndpoint'
> & {
  oauthIssuer: string;
  oauthResource: string;
  /** How this server says who it is when it asks about tokens; undefined if it doesn't ask. */
  introspectionClient: IntrospectionClient | undefined;
};

export class AccessTokens {
  readonly #introspection: Introspection | undefined;
  #metadata: Promise<Metadata> | undefined;
  #keys: JWTVerifyGetKey | undefined;
  #failedAtMs = -Infinity;
  readonly #reportFailure: (error: unknown) => void;

  constructor(
    private readonly settings: OAuthSettings,
    logger: Logger,
  ) {
    const { introspectionClient, oauthIssuer: issuer } = settings;
    this.#reportFailure = sparingly((err) =>
      logger.warn({ issuer, err }, 'the authorization server cannot be asked'),
    );
    if (introspectionClient)
      this.#introspection = new Introspection(introspectionClient, () => this.#endpoint(), logger);
  }

  /**
   * @param given see {@link Introspection.check}
   * @throws OAuthError `invalid_token`, `insufficient_scope`; {@link CredentialUnknown}
   * @throws AuthenticationUnavailable
   */
  async callerOf(given: { token: string; isSuspect: boolean }): Promise<Caller> {
    const { token } = given;
    const { jwks_uri } = await this.#read();
    const isVerified = jwks_uri !== undefined && isJwt(token);
    const verified = isVerified ? await this.#verify(token, jwks_uri) : undefined;
    const isAsked = this.#introspection && (!verified || this.settings.oauthIntrospection);
    if (!isAsked) {
      if (!verified) throw new CredentialUnknown('The access token is invalid');
      return { ...this.#callerOf(verified), isValid: () => isCurrent(verified.exp!) };
    }
    const { accepted, isValid } = await this.#introspection.check(
      { ...given, isSigned: isVerified },
      (claims) => {
        if (!verified) this.#checkAddressees(claims);
        return this.#callerOf(verified ?? claims);
      },
    );
    return { ...accepted, isValid: () => (!verified || isCurrent(verified.exp!)) && isValid() };
  }

  /** The authorization server's metadata. @throws AuthenticationUnavailable */
  async metadata(): Promise<OAuthMetadata> {
    return this.#read();
  }

  /** The claims of a JWT. */
  #verify(token: string, jwks: string): Promise<JWTPayload> {
    this.#keys ??= remoteKeys(jwks);
    return verifyJwt(token, {
      what: 'access token',
      issuer: this.settings.oauthIssuer,
      audience: this.#audience(),
      keys: this.#keys,
    }).catch((error: unknown) => {
      throw error instanceof AuthenticationUnavailable ? this.#unavailable(error) : error;
    });
  }

  /** Refuses claims of an opaque token that isn't for this server, as {@link verifyJwt} does; the issuer may be left out. */
  #checkAddressees({ iss, aud }: JWTPayload): void {
    const refuse = (claim: string) =>
      new OAuthError(OAuthErrorCode.InvalidToken, `The claim ${claim} of the access token is invalid`);
    if (iss !== undefined && iss !== this.settings.oauthIssuer) throw refuse('iss');
    const audience = this.#audience();
    if (![aud ?? []].flat().some((one) => audience.includes(one))) throw refuse('aud');
  }

  #audience(): string[] {
    const resource = withoutSlash(this.settings.oauthResource);
    return [resource, `${resource}/`];
  }

  /** @throws OAuthError `invalid_token`, `insufficient_scope` */
  #callerOf(claims: JWTPayload): Omit<Caller, 'isValid'> {
    const { oauthTenantClaim, oauthSubjectClaim, oauthGroupsClaim, oauthIssuer, oauthScope } = this.settings;
    // Answers of introspection need not name the issuer.
    const caller = callerOfClaims({ iss: oauthIssuer, ...claims }, 'access token', {
      tenantClaim: oauthTenantClaim,
      tenant: new URL(oauthIssuer).host,
      subjectClaim: oauthSubjectClaim,
      groupsClaim: oauthGroupsClaim,
    });
    if (oauthScope !== undefined && !caller.scopes.includes(oauthScope))
      throw new OAuthError(
        OAuthErrorCode.InsufficientScope,
        `The access token lacks the scope ${oauthScope}`,
      );
    return caller;
  }

  async #endpoint(): Promise<IntrospectionEndpoint> {
    const { introspection_endpoint, introspection_endpoint_auth_methods_supported: methods } =
      await this.#read();
    const url = this.settings.oauthIntrospectionEndpoint ?? introspection_endpoint;
    if (url === undefined)
      throw new AuthenticationUnavailable(
        `access tokens can't be checked: ${this.settings.oauthIssuer} names no introspection endpoint`,
      );
    const usesPost = methods?.includes('client_secret_post') && !methods.includes('client_secret_basic');
    return { url, usesPost: usesPost ?? false };
  }

  /** One read for all, kept once it has succeeded. */
  #read(): Promise<Metadata> {
    if (this.#metadata) return this.#metadata;
    if (performance.now() - this.#failedAtMs < FAILURE_PAUSE_MS)
      return Promise.reject(new AuthenticationUnavailable(unavailableMessage(this.settings.oauthIssuer)));
    this.#metadata = readMetadata(this.settings.oauthIssuer, !this.#introspection);
    return this.#metadata.catch((error: unknown) => {
      this.#metadata = undefined;
      this.#failedAtMs = performance.now();
      throw this.#unavailable(error);
    });
  }

  #unavailable(error: unknown): AuthenticationUnavailable {
    this.#reportFailure(error);
    return new AuthenticationUnavailable(unavailableMessage(this.settings.oauthIssuer), { cause: error });
  }
}

/** Reads the metadata from the addresses of the specification, in its order (basic/authorization/authorization-server-discovery). */
async function readMetadata(issuer: string, needsKeys: boolean): Promise<Metadata> {
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
      if (needsKeys && metadata.jwks_uri === undefined)
        throw new Error(`${address}: expected jwks_uri, the address of the keys; got none`);
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
