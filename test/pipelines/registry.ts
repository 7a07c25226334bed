/** A registry that proxies npm's: it serves the real packages, and audits that the test sets. */
import { execFileSync } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

const NPM = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' })
  .trim()
  .replace(/\/$/, '');
const AUDIT = '/-/npm/v1/security/advisories/bulk';

/** Metadata of one package, as the registry returns it. */
export interface Advisory {
  id: number;
  url: string;
  title: string;
  severity: 'low' | 'moderate' | 'high' | 'critical';
  vulnerable_versions: string;
}

export class FrontRegistry {
  /** Name -> its advisories; `none`: a registry without audits. */
  advisories: Record<string, Advisory[]> | 'none' = {};
  /** Name -> versions, of each audit that was asked for. */
  readonly audited: Record<string, string[]>[] = [];
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) => response.writeHead(502).end(String(error)));
  });

  static async start(): Promise<FrontRegistry> {
    const registry = new FrontRegistry();
    await new Promise<void>((settle) => registry.#server.listen(0, '127.0.0.1', settle));
    return registry;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((settle) => this.#server.close(settle));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === AUDIT) return this.#audit(request, response);
    const { status, headers, body } = await fromNpm(request.url!, request.headers.accept);
    response.writeHead(status, { 'content-type': headers.get('content-type') ?? '' }).end(body);
  }

  async #audit(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.advisories === 'none') return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
    this.audited.push(JSON.parse(text) as Record<string, string[]>);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(this.advisories));
  }
}

/** The answer of npm's own registry, or of the one that this machine uses for it. */
export async function fromNpm(
  path: string,
  accept = '*/*',
): Promise<{ status: number; headers: Headers; body: Buffer }> {
  const response = await fetch(NPM + path, { headers: { accept } });
  const body = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, body };
}
