/** The issuer of tokens: its keys and endpoints, by the token source or by its metadata (RFC 8414, OpenID Connect Discovery 1.0). */
import type { JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import { readPublicKey, readSecret, type TokenSource } from '../../platform/settings/token-sources.js';
import { isHttpUrl } from '../../platform/settings/types.js';
import type { Logger } from '../../platform/observe/log.js';
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

export class Issuer {
  /** Checks opaque tokens. Undefined if this server has no credential for that; {@link keys} has some then. */
  readonly introspection: Introspection | undefined;
  readonly #unavailable: Unavailability;
  readonly #read: () => Promise<Metadata>;
  #metadata: Promise<Metadata> | undefined;
  #keys: JWTVerifyGetKey | undefined;

  /** @throws Error when the file of keys can't be used */
  constructor(
    readonly source: TokenSource,
    logger: Logger,
  ) {
    const { issuer, keys, introspection: asked } = source;
    this.#unavailable = unavailabilityOf(issuer, logger);
    this.#read = pausing(() => readMetadata(issuer, keys === undefined && !asked));
    if (keys !== undefined) this.#keys = isHttpUrl(keys) ? remoteKeys(keys, this.#unavailable) : keyIn(keys);
    if (!asked) return;
    const client = { clientId: asked['client-id'], secret: () => readSecret(asked) };
    this.introspection = new Introspection(client, () => this.#endpoint(asked.endpoint), this.#unavailable);
  }

  /** All callers share one read, kept once it has succeeded. @throws AuthenticationUnavailable */
  metadata(): Promise<Metadata> {
    this.#metadata ??= this.#read().catch((error: unknown) => {
      this.#metadata = undefined;
      throw this.#unavailable(`${this.source.issuer} does not answer`, error);
    });
    return this.#metadata;
  }

  /** Undefined where {@link introspection} checks all tokens, which are opaque. @throws AuthenticationUnavailable */
  async keys(): Promise<JWTVerifyGetKey | undefined> {
    if (this.#keys) return this.#keys;
    const { jwks_uri } = await this.metadata();
    if (jwks_uri !== undefined) this.#keys ??= remoteKeys(jwks_uri, this.#unavailable);
    return this.#keys;
  }

  async #endpoint(given: string | undefined): Promise<IntrospectionEndpoint> {
    const { introspection_endpoint, introspection_endpoint_auth_methods_supported: methods } =
      await this.metadata();
    const url = given ?? introspection_endpoint;
    if (url === undefined) throw this.#unavailable(`${this.source.issuer} names no introspection endpoint`);
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

function keyIn(path: string): JWTVerifyGetKey {
  const key = readPublicKey(path);
  return () => Promise.resolve(key);
}
