import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, type CryptoKey, type JWK } from 'jose';

/** A request about a token (RFC 7662). */
export interface Question {
  authorization: string | undefined;
  body: URLSearchParams;
}

/** An authorization server, as far as a resource server asks it: for its metadata, its keys, and about tokens. */
export class Issuer {
  keys: JWK[] = [];
  /** Answers requests for the keys in another way. */
  answerKeys: ((response: ServerResponse) => void) | undefined;
  /** Claimed issuer. Default: its own address. */
  claims: string | undefined;

  /** More metadata. */
  metadata: object = {};
  /** Answers questions about tokens. Default: none is active. */
  introspect: (question: Question) => object | number = () => ({ active: false });
  /** Questions about tokens, so far. */
  readonly questions: Question[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Issuer> {
    const server = createServer((request, response) => void issuer.#answer(request, response));
    const issuer = new Issuer(server);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Makes a key, and publishes it beside the others. */
  async newKey(kid: string): Promise<CryptoKey> {
    const { privateKey, publicKey } = await generateKeyPair('RS256');
    this.keys.push({ ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' });
    return privateKey;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!;
    const send = (body: object) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    if (path === '/jwks') {
      if (this.answerKeys) this.answerKeys(response);
      else send({ keys: this.keys });
    } else if (path === '/.well-known/oauth-authorization-server')
      send({
        issuer: this.claims ?? this.url,
        jwks_uri: `${this.url}/jwks`,
        authorization_endpoint: `${this.url}/auth`,
        token_endpoint: `${this.url}/token`,
        response_types_supported: ['code'],
        ...this.metadata,
      });
    else if (path === '/introspect') {
      const body = new URLSearchParams(await text(request));
      const question = { authorization: request.headers.authorization, body };
      this.questions.push(question);
      const answer = this.introspect(question);
      if (typeof answer === 'number') response.writeHead(answer).end();
      else send(answer);
    } else response.writeHead(404).end();
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }
}
