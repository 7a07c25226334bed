/**
 * A company's identity provider, at which its people have logged in: it exchanges an ID token for an assertion to the authorization
 * server of a service (ID-JAG), if the company's policy lets this person use it.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { generateKeyPair, jwtVerify, SignJWT, type CryptoKey, type JWTPayload } from 'jose';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
/** Type of the assertion, in its header. */
const ASSERTION_TYPE = 'oauth-id-jag+jwt';
/** The client that people have logged in to. */
const CLIENT = 'assistant';

export class IdentityProvider {
  /** Subjects who may use the service. */
  readonly allowed = new Set<string>();
  /** Exchanges that were asked for. */
  readonly exchanges: URLSearchParams[] = [];

  private constructor(
    private readonly server: Server,
    private readonly keys: { privateKey: CryptoKey; publicKey: CryptoKey },
  ) {}

  static async start(): Promise<IdentityProvider> {
    const server = createServer((request, response) => {
      void (async () => {
        const [status, body] =
          request.method === 'POST'
            ? await provider.#exchange(new URLSearchParams(await text(request)))
            : [200, provider.#metadata()];
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      })();
    });
    const provider = new IdentityProvider(server, await generateKeyPair('RS256'));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The ID token that a person's log-in at the client gave it. */
  idToken(subject: string): Promise<string> {
    return this.#sign('JWT', { sub: subject, aud: CLIENT });
  }

  /** An assertion with these claims. @param type in its header. Default: that of an ID-JAG */
  assertion(claims: JWTPayload, type = ASSERTION_TYPE): Promise<string> {
    return this.#sign(type, { jti: crypto.randomUUID(), ...claims });
  }

  /** The claims of an assertion for an authorization server. @throws Error for another assertion */
  async verify(assertion: string, audience: string): Promise<JWTPayload> {
    const { payload } = await jwtVerify(assertion, this.keys.publicKey, {
      issuer: this.url,
      audience,
      typ: ASSERTION_TYPE,
      requiredClaims: ['exp', 'sub', 'client_id', 'resource', 'scope', 'jti'],
    });
    return payload;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }

  #sign(typ: string, claims: JWTPayload): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', typ })
      .setIssuer(this.url)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(this.keys.privateKey);
  }

  #metadata(): object {
    const url = this.url;
    return {
      issuer: url,
      authorization_endpoint: `${url}/auth`,
      token_endpoint: `${url}/token`,
      response_types_supported: ['code'],
    };
  }

  /** Token exchange (RFC 8693). */
  async #exchange(asked: URLSearchParams): Promise<[number, object]> {
    this.exchanges.push(asked);
    const refuse = (error: string): [number, object] => [400, { error }];
    if (asked.get('grant_type') !== TOKEN_EXCHANGE) return refuse('unsupported_grant_type');
    if (asked.get('requested_token_type') !== ID_JAG || asked.get('subject_token_type') !== ID_TOKEN)
      return refuse('invalid_request');
    const { payload } = await jwtVerify(asked.get('subject_token')!, this.keys.publicKey, {
      issuer: this.url,
      audience: CLIENT,
    });
    if (!this.allowed.has(payload.sub!)) return refuse('access_denied');
    const assertion = await this.assertion({
      sub: payload.sub!,
      aud: asked.get('audience')!,
      resource: asked.get('resource')!,
      scope: asked.get('scope') ?? '',
      client_id: 'assistant-at-longhaul',
    });
    return [200, { access_token: assertion, issued_token_type: ID_JAG, token_type: 'N_A', expires_in: 300 }];
  }
}
