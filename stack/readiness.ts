/** Readiness of a server. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../platform/config.js';

const ANSWER_LIMIT_MS = 2_000;
const POLL_INTERVAL_MS = 50;

/** Result of `GET /readyz`. */
export type Readiness =
  /** Without the names of the tools if callers are authenticated. */
  { ready: true; tools?: string[] } | { ready: false; missing: string[] };

/** Base URL at which this machine reaches the server of these settings: `http://host:port`. */
export function serverUrl({ host, port }: Pick<Settings, 'host' | 'port'>): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** MCP endpoint of the server of these settings. */
export function mcpUrl(settings: Pick<Settings, 'host' | 'port'>): string {
  return `${serverUrl(settings)}/mcp`;
}

/** Requests the readiness once; a server that doesn't answer isn't ready. */
export async function readReadiness(url: string): Promise<Readiness> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    const body = (await response.json()) as { tools?: string[]; missing?: string[] };
    if (response.ok) return { ready: true, ...(body.tools ? { tools: body.tools } : {}) };
    return { ready: false, missing: body.missing ?? [] };
  } catch {
    return { ready: false, missing: ['server'] };
  }
}

/**
 * Polls until the server is ready, or the signal is aborted.
 *
 * @param whileWaiting called with each answer of a server that isn't ready
 * @returns the server's answer; undefined when aborted
 */
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
