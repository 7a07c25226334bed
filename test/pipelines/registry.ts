/** A registry that proxies npm's, with audits that the test sets; packages as they are published. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
async function fromNpm(
  path: string,
  accept = '*/*',
): Promise<{ status: number; headers: Headers; body: Buffer }> {
  const response = await fetch(NPM + path, { headers: { accept } });
  const body = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, body };
}

/** The registry's own metadata of a version, and its file. */
export async function published(
  name: string,
  version: string,
): Promise<{ license: string; integrity: string; file: Buffer }> {
  const { body } = await fromNpm(`/${name}/${version}`);
  const { license, dist } = JSON.parse(body.toString()) as {
    license: string;
    dist: { tarball: string; integrity: string };
  };
  const { body: file } = await fromNpm(new URL(dist.tarball).pathname);
  return { license, integrity: dist.integrity, file };
}

/** Size of a package's files once it is unpacked. */
export function unpackedBytes(tarball: Buffer): number {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-package-'));
  try {
    execFileSync('tar', ['-xzf', '-', '-C', folder], { input: tarball });
    return readdirSync(join(folder, 'package'), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
