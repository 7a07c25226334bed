/** The server's listener: HTTP, or HTTPS with the TLS settings. */
import type { Server as HttpServer } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import type { Settings } from '../../platform/settings/index.js';
import type { Logger } from '../../platform/log.js';
import { limitConnections } from '../limits/connections.js';
import { ServerTls } from './tls.js';

/** Longer than proxies (60 s) and clients keep idle connections, so they never send a request on a closing one. Node's default: 5 s. */
const KEEP_ALIVE_MS = 75_000;

/** Time limits for a request's headers and for the whole request, in milliseconds. They stop slow senders. */
const HEADERS_LIMIT_MS = 20_000;
const REQUEST_LIMIT_MS = 120_000;
/** How often these limits are checked, in milliseconds. */
const TIME_CHECK_MS = 5_000;

/** Idle time before TCP checks that the other end is still there, in milliseconds: waits send nothing for minutes. */
const TCP_KEEP_ALIVE_MS = 30_000;

const SERVER_OPTIONS = {
  headersTimeout: HEADERS_LIMIT_MS,
  requestTimeout: REQUEST_LIMIT_MS,
  connectionsCheckingInterval: TIME_CHECK_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAlive: true,
  keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
};

export interface Listener {
  server: HttpServer;
  protocol: 'http' | 'https';
  endWatch: () => void;
}

/** @throws Error when the TLS files can't be used */
export function createListener({ fetch }: Hono, settings: Settings, logger: Logger): Listener {
  const tls = settings.tlsCert === undefined ? undefined : new ServerTls(settings, logger);
  const server = createAdaptorServer(
    tls
      ? { fetch, createServer: createHttpsServer, serverOptions: { ...SERVER_OPTIONS, ...tls.options } }
      : { fetch, serverOptions: SERVER_OPTIONS },
  ) as HttpServer;
  limitConnections(server, settings, logger);
  return {
    server,
    protocol: tls ? 'https' : 'http',
    endWatch: tls ? tls.watch(server as unknown as HttpsServer) : () => undefined,
  };
}
