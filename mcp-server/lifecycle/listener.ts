/** The server's listener: HTTP, or HTTPS with the settings of TLS. */
import type { Server as HttpServer } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import type { Settings } from '../../platform/config.js';
import type { Logger } from '../../platform/log.js';
import { ServerTls } from './tls.js';

/**
 * How long an idle connection stays open, in milliseconds: longer than proxies (60 s) and clients keep theirs, so that they
 * never send a request on a closing connection. Node's default is 5 s.
 */
const KEEP_ALIVE_MS = 75_000;

export interface Listener {
  server: HttpServer;
  protocol: 'http' | 'https';
  /** Ends the watch over the files of TLS. */
  endWatch: () => void;
}

/** @throws Error when the files of TLS can't be used */
export function createListener({ fetch }: Hono, settings: Settings, logger: Logger): Listener {
  const tls = settings.tlsCert === undefined ? undefined : new ServerTls(settings, logger);
  const server = createAdaptorServer(
    tls ? { fetch, createServer: createHttpsServer, serverOptions: tls.options } : { fetch },
  ) as HttpServer;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return {
    server,
    protocol: tls ? 'https' : 'http',
    endWatch: tls ? tls.watch(server as unknown as HttpsServer) : () => undefined,
  };
}
