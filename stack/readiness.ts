/** Reads a server's readiness. */
import { get as getOverHttp } from 'node:http';
import { get as getOverHttps } from 'node:https';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../platform/settings/index.js';
import { isCertificateFor, namesOf, readTlsFiles } from '../platform/settings/tls-files.js';

const ANSWER_LIMIT_MS = 2_000;
const POLL_INTERVAL_MS = 50;

/** Result of `GET /readyz`. */
export type Readiness =
  /** Omits the tools' names when callers must authenticate. */
  { ready: true; tools?: string[] } | { ready: false; missing: string[] };

type Listening = Pick<Settings, 'host' | 'port' | 'tlsCert'>;

/** Base URL of the server from this machine: `http://host:port`, or https with TLS. */
export function serverUrl({ host, port, tlsCert }: Listening): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const protocol = tlsCert === undefined ? 'http' : 'https';
  return `${protocol}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

export function mcpUrl(settings: Listening): string {
  return `${serverUrl(settings)}/mcp`;
}

/** MCP endpoint with a host that clients can verify: the certificate's first name, unless it covers the address. */
export function publicUrl(settings: Settings): string {
  const url = new URL(mcpUrl(settings));
  if (settings.tlsCert === undefined) return url.href;
  const { certificate } = readTlsFiles(settings);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const [name] = namesOf(certificate);
  if (name !== undefined && !isCertificateFor(certificate, host)) url.hostname = name;
  return url.href;
}

/** Asks once. A server that doesn't answer isn't ready. */
export async function readReadiness(url: string): Promise<Readiness> {
  try {
    const { isOk, body } = await getReadiness(`${url}/readyz`);
    if (isOk) return { ready: true, ...(body.tools ? { tools: body.tools } : {}) };
    return { ready: false, missing: body.missing ?? [] };
  } catch {
    return { ready: false, missing: ['server'] };
  }
}

/** Skips the certificate check: it may cover only the public name, and the request carries no secret. */
function getReadiness(
  url: string,
): Promise<{ isOk: boolean; body: { tools?: string[]; missing?: string[] } }> {
  return new Promise((resolve, reject) => {
    const get = url.startsWith('https:') ? getOverHttps : getOverHttp;
    const options = { agent: false, rejectUnauthorized: false, signal: AbortSignal.timeout(ANSWER_LIMIT_MS) };
    get(url, options, (response) => {
      json(response).then(
        (body) => resolve({ isOk: response.statusCode === 200, body: body as object }),
        reject,
      );
    }).on('error', reject);
  });
}

/** Polls until the server is ready; undefined if the signal aborts first. @param whileWaiting called after each failed check */
export async function waitUntilReady(
  url: string,
  signal: AbortSignal,
  whileWaiting: (missing: string[]) => void = () => undefined,
): Promise<Extract<Readiness, { ready: true }> | undefined> {
  while (!signal.aborted) {
    const readiness = await readReadiness(url);
    if (readiness.ready) return readiness;
    whileWaiting(readiness.missing);
    await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}
