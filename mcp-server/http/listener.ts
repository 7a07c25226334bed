/** The server's listener: HTTP, or HTTPS with the TLS settings. */
import type { Server as HttpServer } from 'node:http';
import type { Server, Socket } from 'node:net';
import {
  createServer as createHttpsServer,
  type Server as HttpsServer,
  type ServerOptions,
} from 'node:https';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import type { TLSSocket } from 'node:tls';
import type { Settings } from '../../platform/settings/index.js';
import { networkOf, trustedBy } from '../../platform/http/client-address.js';
import { sparingly, type Logger } from '../../platform/observe/log.js';
import { OpenCounts } from '../limits/open-requests.js';
import { readTlsFiles, type TlsFiles } from '../../platform/settings/tls-files.js';
import { watchFiles } from '../../platform/project/watch-files.js';

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

const MOST_CONNECTIONS = 20_000;

/**
 * Closes new connections beyond the limits: in total, and per address (IPv6: per /64). Trusted proxies' connections count only in the
 * total.
 */
export function limitConnections(server: Server, settings: Settings, logger: Logger): void {
  const { maxConnectionsPerAddress } = settings;
  const isTrusted = trustedBy(settings.trustedProxies);
  const open = new OpenCounts();
  const report = sparingly((address: string | undefined) =>
    logger.warn({ address }, 'a connection was closed, since there are too many'),
  );
  server.maxConnections = MOST_CONNECTIONS;
  server.on('drop', (data) => report(data?.remoteAddress));
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isTrusted(address)) return;
    const network = networkOf(address);
    if (open.get(network) >= maxConnectionsPerAddress) {
      report(address);
      socket.destroy();
      return;
    }
    open.add(network);
    socket.once('close', () => open.remove(network));
  });
}

const HANDSHAKE_LIMIT_MS = 10_000;

class ServerTls {
  #files: TlsFiles;
  readonly #readAtMs = Date.now();
  readonly #certified = new Set<TLSSocket>();

  /** @throws Error when the files can't be used */
  constructor(
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {
    this.#files = readTlsFiles(settings);
    this.#warnIfExpired();
  }

  /** Connections without a client certificate are accepted, because callers may have keys instead. */
  get options(): ServerOptions {
    return { ...this.#context(), handshakeTimeout: HANDSHAKE_LIMIT_MS };
  }

  /** Uses changed files for new connections. Reports unusable files, and keeps the previous ones. @returns ends the watch */
  watch(server: HttpsServer): () => void {
    server.on('secureConnection', (socket: TLSSocket) => {
      if (!socket.authorized) return;
      this.#certified.add(socket);
      socket.once('close', () => this.#certified.delete(socket));
    });
    const { tlsCert, tlsKey, tlsClientCa } = this.settings;
    const paths = [tlsCert, tlsKey, tlsClientCa].filter((path) => path !== undefined);
    const reload = async () => {
      const { ca } = this.#files;
      this.#files = readTlsFiles(this.settings);
      server.setSecureContext(this.#context());
      if (this.#files.ca !== ca) this.#forgetCertificates();
      this.logger.info({ validTo: this.#files.certificate.validTo }, 'uses the changed files of TLS');
      this.#warnIfExpired();
    };
    return watchFiles(() => paths, reload, {
      onError: (error) =>
        this.logger.error(
          { reason: (error as Error).message },
          'the changed files of TLS cannot be used; those before them stay in use',
        ),
      loadedSinceMs: this.#readAtMs,
    });
  }

  #context(): ServerOptions {
    const { cert, key, ca } = this.#files;
    return { cert, key, ...(ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: false }) };
  }

  /** Stops trusting certificates that other authorities have verified. Their clients connect again. */
  #forgetCertificates(): void {
    for (const socket of this.#certified) socket.authorized = false;
    this.#certified.clear();
  }

  #warnIfExpired(): void {
    const { validTo } = this.#files.certificate;
    if (Date.parse(validTo) < Date.now())
      this.logger.warn({ validTo }, "the server's certificate has expired");
  }
}
