/** The OAuth authorization server: its keys and endpoints, found by its metadata (RFC 8414, OpenID Connect Discovery 1.0). */
import { readFileSync } from 'node:fs';
import type { JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import { givenOauthClientSecret, type Settings } from '../../platform/settings/index.js';
import type { Logger } from '../../platform/log.js';
import { unavailabilityOf, type Unavailability } from './challenge.js';
import { Introspection, type IntrospectionEndpoint } from './introspection.js';
import { fetchOk, pausing, remoteKeys } from './jwt.js';

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

export class AuthorizationServer {
  /** Undefined if this server has no credential for introspection. */
  readonly introspection: Introspection | undefined;
  readonly #unavailable: Unavailability;
  readonly #read: () => Promise<Metadata>;
  #metadata: Promise<Metadata> | undefined;
  #keys: JWTVerifyGetKey | undefined;

  constructor(
    private readonly settings: Settings,
    logger: Logger,
  ) {
    const { oauthIssuer, oauthClientId: clientId, oauthClientSecretFile: file } = settings;
    this.#unavailable = unavailabilityOf('access tokens', logger);
    this.#read = pausing(() => readMetadata(oauthIssuer!, clientId === undefined));
    if (clientId === undefined) return;
    const secret = () => (file === undefined ? givenOauthClientSecret()! : readFileSync(file, 'utf8').trim());
    this.introspection = new Introspection({ clientId, secret }, () => this.#endpoint(), this.#unavailable);
  }

  /** All callers share one read, kept once it has succeeded. @throws AuthenticationUnavailable */
  metadata(): Promise<Metadata> {
    this.#metadata ??= this.#read().catch((error: unknown) => {
      this.#metadata = undefined;
      throw this.#unavailable(`${this.settings.oauthIssuer} does not answer`, error);
    });
    return this.#metadata;
  }

  /** Undefined where {@link introspection} checks all tokens, which are opaque. @throws AuthenticationUnavailable */
  async keys(): Promise<JWTVerifyGetKey | undefined> {
    const { jwks_uri } = await this.metadata();
    if (jwks_uri === undefined) return undefined;
    this.#keys ??= remoteKeys(jwks_uri, this.#unavailable);
    return this.#keys;
  }

  async #endpoint(): Promise<IntrospectionEndpoint> {
    const { introspection_endpoint, introspection_endpoint_auth_methods_supported: methods } =
      await this.metadata();
    const { oauthIssuer, oauthIntrospectionEndpoint: url = introspection_endpoint } = this.settings;
    if (url === undefined) throw this.#unavailable(`${oauthIssuer} names no introspection endpoint`);
    const usesPost = methods?.includes('client_secret_post') && !methods.includes('client_secret_basic');
    return { url, usesPost: usesPost ?? false };
  }
}

/** Reads the metadata from the specification's addresses, in its order (basic/authorization/authorization-server-discovery). */
async function readMetadata(issuer: string, needsKeys: boolean): Promise<Metadata> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const addresses = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    ...(path === '' ? [] : [`${origin}${path}/.well-known/openid-configuration`]),
  ];
  let failure: unknown;
  for (const address of addresses) {
    try {
      const response = await fetchOk(address, { headers: { accept: 'application/json' } });
      const metadata = metadataSchema.parse(await response.json());
      // RFC 8414, section 3.3: compared without normalization.
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
