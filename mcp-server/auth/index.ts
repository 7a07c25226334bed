/** Authentication of callers over HTTP and stdio. */
import type { Socket } from 'node:net';
import { getOAuthProtectedResourceMetadataUrl, oauthMetadataResponse } from '@modelcontextprotocol/server';
import { givenApiKey, givenOauthClientSecret, SettingsError, type Settings } from '../../platform/settings/index.js';
import { every } from '../../platform/every.js';
import type { Logger } from '../../platform/log.js';
import { AccessTokens, type OAuthSettings } from './access-tokens.js';
import type { IntrospectionClient } from './introspection.js';
import { API_KEY_PREFIX, ApiKeys } from './api-keys.js';
import { ANYBODY, type Caller } from './caller.js';
import { challengeFor, CredentialMissing } from './challenge.js';
import { certificateCallerOf, certificateProblem, CertificateRequired } from './client-certificates.js';
import { GatewayIdentities } from './gateway.js';

export { CredentialUnknown } from './challenge.js';
export { AuthenticationUnavailable } from './jwt.js';
export type { Caller } from './caller.js';

/** How often the credentials of open requests and streams are checked, in milliseconds. */
const CHECK_MS = 1_000;

/** Credentials of a request. */
export interface Credentials {
  /**
   * With `Authorization: Bearer` and an API key or an access token (RFC 6750, section 2.1), which has priority over the header of a
   * gateway, as that has over a client certificate.
   */
  headers: Headers;
  /** Connection of the request. */
  socket: Socket | undefined;
  /** Whether too many unknown credentials have come from the same address. */
  isSuspect: boolean;
}

export class Authentication {
  readonly #keys: ApiKeys | undefined;
  readonly #tokens: AccessTokens | undefined;
  readonly #oauth: OAuthSettings | undefined;
  readonly #gateway: GatewayIdentities | undefined;
  readonly #usesCertificates: boolean;
  /** Open requests and streams, and what ends each once its credential is no longer valid. */
  readonly #held = new Map<Caller, () => void>();
  readonly #endChecks: () => void;

  constructor(
    private readonly settings: Settings,
    logger: Logger,
  ) {
    const { authentication, keysFolder, oauthIssuer, oauthResource } = settings;
    const { gatewayHeader, gatewayIssuer, gatewayAudience } = settings;
    this.#usesCertificates = authentication.includes('mtls');
    if (authentication.includes('keys')) this.#keys = new ApiKeys(keysFolder, logger);
    if (authentication.includes('oauth')) {
      // All are there, also below: the settings are refused otherwise.
      const introspectionClient = introspectionClientOf(settings);
      this.#oauth = {
        ...settings,
        oauthIssuer: oauthIssuer!,
        oauthResource: oauthResource!,
        introspectionClient,
      };
      this.#tokens = new AccessTokens(this.#oauth, logger);
    }
    if (authentication.includes('gateway')) {
      const [header, issuer, audience] = [gatewayHeader!, gatewayIssuer!, gatewayAudience!];
      this.#gateway = new GatewayIdentities(
        { ...settings, gatewayHeader: header, gatewayIssuer: issuer, gatewayAudience: audience },
        logger,
      );
    }
    this.#endChecks = this.isOn ? every(CHECK_MS, logger, () => this.#checkHeld()) : () => undefined;
  }

  /** Whether callers say who they are; otherwise all are one. */
  get isOn(): boolean {
    return this.#takesBearer || this.#gateway !== undefined || this.#usesCertificates;
  }

  get #takesBearer(): boolean {
    return this.#keys !== undefined || this.#tokens !== undefined;
  }

  /**
   * The caller of a request.
   *
   * @throws OAuthError `invalid_token`, `insufficient_scope`; {@link CredentialUnknown}, {@link CredentialMissing},
   *   {@link CertificateRequired}
   * @throws AuthenticationUnavailable
   */
  async callerOf({ headers, socket, isSuspect }: Credentials): Promise<Caller> {
    if (!this.isOn) return ANYBODY;
    const authorization = headers.get('authorization');
    if (authorization === null || !this.#takesBearer) {
      const assertion = this.#gateway && headers.get(this.#gateway.header);
      if (this.#gateway && assertion) return this.#gateway.callerOf(assertion);
      const caller = this.#usesCertificates ? certificateCallerOf(socket) : undefined;
      if (caller) return caller;
    }
    const [, credential] = /^Bearer +([^\s,]+) *$/i.exec(authorization ?? '') ?? [];
    if (credential === undefined || !this.#takesBearer) throw this.#missing(socket);
    if (this.#keys && (credential.startsWith(API_KEY_PREFIX) || !this.#tokens))
      return this.#keys.callerOf(credential);
    return this.#tokens!.callerOf({ token: credential, isSuspect });
  }

  /**
   * The caller who uses this process over stdio: the one that LONGHAUL_API_KEY stands for (specs: 2026-07-28 basic/authorization,
   * "Protocol Requirements": credentials come from the environment).
   *
   * @throws SettingsError without a valid key
   */
  callerOfProcess(): Caller {
    if (!this.isOn) return ANYBODY;
    const key = givenApiKey();
    if (!this.#keys || key === undefined)
      throw new SettingsError(
        'LONGHAUL_API_KEY: expected an API key, since callers are authenticated (--authentication with keys); ' +
          'make one with longhaul keys add',
      );
    try {
      return this.#keys.callerOf(key);
    } catch (error) {
      throw new SettingsError(`LONGHAUL_API_KEY: ${(error as Error).message}`, { cause: error });
    }
  }

  /** The HTTP status and headers for an error of {@link callerOf}; with WWW-Authenticate (RFC 6750, section 3; RFC 9728). */
  challenge(error: unknown): Response {
    const { oauthScope } = this.settings;
    return challengeFor(error, {
      ...(oauthScope === undefined ? {} : { requiredScopes: [oauthScope] }),
      ...(this.#oauth
        ? { resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(new URL(this.#oauth.oauthResource)) }
        : {}),
    });
  }

  /**
   * The answer to a request for OAuth metadata: that of this resource (RFC 9728), and of its authorization server, which older
   * clients look for here; undefined for other requests.
   *
   * @throws AuthenticationUnavailable
   */
  async metadata(request: Request): Promise<Response | undefined> {
    if (!this.#tokens || !this.#oauth || !new URL(request.url).pathname.startsWith('/.well-known/'))
      return undefined;
    const { oauthScope, oauthResource } = this.#oauth;
    return oauthMetadataResponse(request, {
      oauthMetadata: await this.#tokens.metadata(),
      resourceServerUrl: new URL(oauthResource),
      resourceName: 'Longhaul',
      ...(oauthScope === undefined ? {} : { scopesSupported: [oauthScope] }),
    });
  }

  /**
   * Watches the credential of an open request or stream.
   *
   * @param end called once, when the credential has expired or was revoked
   * @returns a function that ends the watch
   */
  hold(caller: Caller, end: () => void): () => void {
    if (caller === ANYBODY) return () => undefined;
    this.#held.set(caller, end);
    return () => this.#held.delete(caller);
  }

  close(): void {
    this.#endChecks();
  }

  #missing(socket: Socket | undefined): Error {
    const problem = this.#usesCertificates ? certificateProblem(socket) : '';
    if (!this.#takesBearer && !this.#gateway) return new CertificateRequired(problem);
    const orCertificate = problem && `; or a client certificate, but ${problem}`;
    return new CredentialMissing(`Expected the header ${this.#expected()}${orCertificate}`);
  }

  #expected(): string {
    const bearer = [this.#keys && 'an API key', this.#tokens && 'an access token'].filter(Boolean);
    return [
      ...(bearer.length ? [`Authorization: Bearer, with ${bearer.join(' or ')}`] : []),
      ...(this.#gateway ? [`${this.#gateway.header}, with a JWT of the gateway in front`] : []),
    ].join('; or ');
  }

  #checkHeld(): Promise<void> {
    for (const [caller, end] of this.#held) {
      if (caller.isValid()) continue;
      this.#held.delete(caller);
      end();
    }
    return Promise.resolve();
  }
}

/** ID and secret of this server at the authorization server; undefined if opaque tokens aren't accepted. */
function introspectionClientOf({
  oauthClientId,
  oauthClientSecretFile,
}: Settings): IntrospectionClient | undefined {
  if (oauthClientId === undefined) return undefined;
  const secret =
    oauthClientSecretFile === undefined
      ? { value: givenOauthClientSecret()! }
      : { file: oauthClientSecretFile };
  return { clientId: oauthClientId, secret };
}
