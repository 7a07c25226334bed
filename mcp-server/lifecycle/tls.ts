/** The server's TLS. Reads its files again when they change, without a restart. */
import type { Server as HttpsServer, ServerOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Settings } from '../../platform/settings/index.js';
import type { Logger } from '../../platform/log.js';
import { readTlsFiles, type TlsFiles } from '../../platform/settings/tls-files.js';
import { watchFiles } from '../../platform/watch-files.js';

const HANDSHAKE_LIMIT_MS = 10_000;

export class ServerTls {
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
