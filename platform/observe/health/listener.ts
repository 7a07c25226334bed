/**
 * Serves health checks and metrics without authentication, on a private network. Shares nothing with the server's own port, so
 * load there can't delay a probe. Checks Host, so a web page can't read it under a rebound name.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { SettingsError } from '../../settings/index.js';
import { Origins } from '../../http/origins.js';
import { metricsPage, METRICS_CONTENT_TYPE } from '../metrics/index.js';
import { formatAddress, isLoopback, type ListenAddress } from '../../settings/health-address.js';
import { ALIVE, type ReadinessBody } from './checks.js';

/** Limits of a request, and of an idle connection or an answer that isn't read. */
const REQUEST_LIMIT_MS = 5_000;
const SOCKET_LIMIT_MS = 30_000;
const MAX_CONNECTIONS = 100;

/**
 * Serves `/healthz`, `/readyz` and, if the process keeps metrics, `/metrics`.
 *
 * @param allowedHosts names that clients may use besides loopback's
 * @param readiness must answer within a bounded time
 * @returns a function that closes it and its connections
 * @throws SettingsError when the process can't listen on the address
 */
export async function startHealthListener(
  address: ListenAddress,
  allowedHosts: string[],
  readiness: () => Promise<ReadinessBody>,
): Promise<() => Promise<void>> {
  // Orchestrators probe by a container's address.
  const acceptsAddresses = !isLoopback(address.host);
  const origins = new Origins({ ...address, allowedHosts, acceptsAddresses });
  const server = createServer(
    { requestTimeout: REQUEST_LIMIT_MS, headersTimeout: REQUEST_LIMIT_MS },
    (request, response) => {
      const { host, origin } = request.headers;
      // Probes in HTTP/1.0 have no Host. Browsers always send it.
      const problem = host === undefined ? undefined : origins.problemOf({ protocol: 'http', host, origin });
      if (problem !== undefined) return json(response, 403, { error: problem });
      // As on the server's own port, ignore a trailing slash.
      const path = (request.url?.split('?', 1)[0] ?? '').replace(/(.)\/$/, '$1');
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.setHeader('Allow', 'GET, HEAD');
        if (request.method === 'OPTIONS') return void response.writeHead(204).end();
        return json(response, 405, { error: `${request.method}: expected GET` });
      }
      answer(path, response, readiness).catch((error: unknown) =>
        json(response, 500, { error: error instanceof Error ? error.message : String(error) }),
      );
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.timeout = SOCKET_LIMIT_MS;
  server.listen(address.port, address.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new SettingsError(
      `${formatAddress(address)} can't be listened on (${(error as NodeJS.ErrnoException).code}): choose another address with ` +
        'LONGHAUL_HEALTH_ADDRESS or --health-address',
    );
  }
  // Don't keep the process alive.
  server.unref();
  return async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
}

async function answer(
  path: string,
  response: ServerResponse,
  readiness: () => Promise<ReadinessBody>,
): Promise<void> {
  if (path === '/healthz') return json(response, 200, ALIVE);
  if (path === '/readyz') {
    const body = await readiness();
    return json(response, body.status === 'ready' ? 200 : 503, body);
  }
  const page = path === '/metrics' ? await metricsPage() : undefined;
  if (page === undefined)
    return json(response, 404, { error: `${path}: expected /healthz, /readyz, or /metrics with metrics on` });
  response.writeHead(200, { 'Content-Type': METRICS_CONTENT_TYPE, 'Cache-Control': 'no-store' }).end(page);
}

function json(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent) return void response.end();
  response
    .writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
    .end(JSON.stringify(body));
}
