/**
 * Checks Host and Origin, against web pages that call a listener (DNS rebinding, cross-origin requests). Compares whole origins,
 * because another port of the same machine is another site.
 */
import { isIP } from 'node:net';
import type { Settings } from '../settings/index.js';
import { namesOf, readTlsFiles } from '../settings/tls-files.js';

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** The settings that decide a listener's names and origins. */
export type OriginsOptions = Pick<Settings, 'host' | 'port' | 'allowedHosts'> &
  Partial<Pick<Settings, 'tlsCert' | 'tlsKey' | 'tlsClientCa'>> & {
    /** Public URL of the MCP endpoint. */
    resource?: URL | undefined;
    /** Accept every IP address as the host: a rebound page has a name. Default: false. */
    acceptsAddresses?: boolean;
  };

export interface RequestOrigin {
  protocol: 'http' | 'https';
  host: string | undefined;
  origin: string | undefined;
}

export class Origins {
  /** Names of the listener, including its certificate's. */
  readonly #names: string[];
  /** The listener's own origins: its names with its port and scheme. */
  readonly #own: ReadonlySet<string>;
  readonly #acceptsAddresses: boolean;

  /** @throws Error when the TLS files can't be used */
  constructor(options: OriginsOptions) {
    const { host, port, allowedHosts, tlsCert, tlsKey, tlsClientCa, resource } = options;
    const ofCertificate =
      tlsCert === undefined ? [] : namesOf(readTlsFiles({ tlsCert, tlsKey, tlsClientCa }).certificate);
    this.#names = [...new Set([...LOOPBACK_NAMES, bracketed(host), ...allowedHosts, ...ofCertificate])];
    const scheme = tlsCert === undefined ? 'http' : 'https';
    const addresses = this.#names.map((name) => originOf(`${scheme}://${name}:${port}`));
    this.#own = new Set([...addresses, resource?.origin].filter((origin) => origin !== undefined));
    this.#acceptsAddresses = options.acceptsAddresses ?? false;
  }

  /** Why a request is refused; undefined if it isn't. @param allowed further origins. Default: none */
  problemOf(request: RequestOrigin, allowed: readonly string[] = []): string | undefined {
    const { protocol, host, origin: given } = request;
    if (!this.#isOwnName(nameIn(host))) {
      const others = this.#acceptsAddresses ? ', an IP address' : '';
      return `Host: expected one of ${this.#names.join(', ')}${others}; got another`;
    }
    // Browsers send it with every request that a foreign page could use.
    if (!given) return undefined;
    const origin = originOf(given);
    const isOwn =
      origin !== undefined && (this.#own.has(origin) || origin === originOf(`${protocol}://${host}`));
    if (isOwn || allowed.includes(given)) return undefined;
    return `Origin: expected ${protocol}://${host} or none; got another`;
  }

  #isOwnName(name: string | undefined): boolean {
    if (name === undefined) return false;
    return (
      this.#names.includes(name) || (this.#acceptsAddresses && isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0)
    );
  }
}

/** The host's name as URLs write it; undefined if it is missing or malformed. */
function nameIn(host: string | undefined): string | undefined {
  return host && URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : undefined;
}

/** Undefined for text that isn't an address, such as the origin `null` of sandboxed pages. */
function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
