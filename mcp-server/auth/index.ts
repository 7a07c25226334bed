/**
 * Authentication of callers over HTTP and stdio.
 *
 * The first kind of credential that a request has decides, in this order: API key, token, client certificate. Where keys or access
 * tokens are accepted, a request with an Authorization header is judged by that header alone.
 */
import type { Socket } from 'node:net';
import { getOAuthProtectedResourceMetadataUrl, oauthMetadataResponse } from '@modelcontextprotocol/server';
import { givenApiKey, SettingsError, type Settings } from '../../platform/settings/index.js';
import { isBearerHeader, readTokenSources } from '../../platform/settings/token-sources.js';
import { every } from '../../platform/every.js';
import type { Logger } from '../../platform/observe/log.js';
import { API_KEY_PREFIX, ApiKeys } from './api-keys.js';
import { ANYBODY, type Caller, type CredentialKind, type Credentials } from './caller.js';
import { CertificateRequired, challengeFor, CredentialMissing } from './challenge.js';
import { certificateCallerOf, certificateProblem } from './client-certificates.js';
import { Issuer } from './issuer.js';
import { callersOf } from './tokens.js';

export { AuthenticationUnavailable, CredentialUnknown, InvalidToken } from './challenge.js';
export type { Caller } from './caller.js';

/** How often credentials of open requests and streams are checked, in milliseconds. */
const CHECK_MS = 1_000;

export class Authentication {
  /** In order of precedence. */
  readonly #kinds: CredentialKind[] = [];
  readonly #keys: ApiKeys | undefined;
  /** The authorization server of access tokens. */
  readonly #server: Issuer | undefined;
  /** Headers of gateways. */
  readonly #headers: string[];
  /** Open requests and streams, each with what ends it once its credential is no longer valid. */
  readonly #held = new Map<Caller, () => void>();
  readonly #endChecks: () => void;

  /** @throws SettingsError when the token sources can't be used */
  constructor(
    private readonly settings: Settings,
    logger: Logger,
  ) {
    const keys = this.#accepts('keys') ? new ApiKeys(settings.keysFolder, logger) : undefined;
    const sources = this.#accepts('tokens') ? readTokenSources(settings.tokenSources!) : [];
    const issuers = sources.map((source) => new Issuer(source, logger));
    this.#keys = keys;
    this.#server = issuers.find(({ source }) => isBearerHeader(source.header));
    this.#headers = issuers.filter((issuer) => issuer !== this.#server).map(({ source }) => source.header);
    // The prefix distinguishes keys from access tokens.
    const prefix = this.#server ? API_KEY_PREFIX : '';
    if (keys)
      this.#kinds.push(({ bearer }) => (bearer?.startsWith(prefix) ? keys.callerOf(bearer) : undefined));
    this.#kinds.push(...issuers.map(callersOf));
    if (this.#accepts('mtls')) this.#kinds.push(({ socket }) => certificateCallerOf(socket));
    this.#endChecks = this.isOn ? every(CHECK_MS, logger, () => this.#checkHeld()) : () => undefined;
  }

  get isOn(): boolean {
    return this.#kinds.length > 0;
  }

  /** Public URL of the MCP endpoint, where access tokens are accepted. */
  get resource(): URL | undefined {
    return this.#server && new URL(this.#server.source.audience);
  }

  /**
   * @throws OAuthError `invalid_token`, `insufficient_scope`; {@link CredentialUnknown}, {@link CredentialMissing},
   *   {@link CertificateRequired}
   * @throws AuthenticationUnavailable
   */
  async callerOf({ headers, socket, isSuspect }: Credentials & { headers: Headers }): Promise<Caller> {
    if (!this.isOn) return ANYBODY;
    const takesBearer = this.#keys !== undefined || this.#server !== undefined;
    const authorization = takesBearer ? headers.get('authorization') : null;
    const credentials: Credentials =
      authorization === null
        ? { headers, socket, isSuspect }
        : { bearer: /^Bearer +([^\s,]+) *$/i.exec(authorization)?.[1], isSuspect };
    for (const callerOf of this.#kinds) {
      const caller = await callerOf(credentials);
      if (caller) return caller;
    }
    throw this.#missing(socket);
  }

  /**
   * The caller over stdio, by LONGHAUL_API_KEY (specs: 2026-07-28 basic/authorization, "Protocol Requirements": credentials come
   * from the environment).
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

  /** HTTP status and headers for an error of {@link callerOf}, with WWW-Authenticate (RFC 6750, section 3; RFC 9728). */
  challenge(error: unknown): Response {
    const { resource } = this;
    return challengeFor(error, {
      requiredScopes: this.#scopes,
      resourceMetadataUrl: resource && getOAuthProtectedResourceMetadataUrl(resource),
    });
  }

  /**
   * The answer to a request under `/.well-known/` for OAuth metadata: this resource's (RFC 9728), or its authorization server's, which
   * older clients look for here. Undefined for other requests.
   *
   * @throws AuthenticationUnavailable
   */
  async metadata(request: Request): Promise<Response | undefined> {
    const { resource } = this;
    if (!resource) return undefined;
    return oauthMetadataResponse(request, {
      oauthMetadata: await this.#server!.metadata(),
      resourceServerUrl: resource,
      resourceName: 'Longhaul',
      scopesSupported: this.#scopes,
    });
  }

  /**
   * Watches the credential of an open request or stream.
   *
   * @param end called once, when the credential expires or is revoked
   * @returns ends the watch
   */
  hold(caller: Caller, end: () => void): () => void {
    if (caller === ANYBODY) return () => undefined;
    this.#held.set(caller, end);
    return () => this.#held.delete(caller);
  }

  close(): void {
    this.#endChecks();
  }

  #accepts(method: Settings['authentication'][number]): boolean {
    return this.settings.authentication.includes(method);
  }

  get #scopes(): string[] | undefined {
    const scope = this.#server?.source.scope;
    return scope === undefined ? undefined : [scope];
  }

  #missing(socket: Socket | undefined): Error {
    const problem = this.#accepts('mtls') ? certificateProblem(socket) : '';
    const bearer = [this.#keys && 'an API key', this.#server && 'an access token'].filter(Boolean);
    const expected = [
      ...(bearer.length ? [`Authorization: Bearer, with ${bearer.join(' or ')}`] : []),
      ...this.#headers.map((header) => `${header}, with a JWT of the gateway in front`),
    ];
    if (expected.length === 0) return new CertificateRequired(problem);
    const orCertificate = problem && `; or a client certificate, but ${problem}`;
    return new CredentialMissing(`Expected the header ${expected.join('; or ')}${orCertificate}`);
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
