/**
 * Checks of Host and Origin, against web pages that call the server through a browser (DNS rebinding, requests across origins).
 * Origins are compared whole, with scheme and port: another port of the same machine is another site.
 */
import { localhostAllowedHostnames, validateHostHeader } from '@modelcontextprotocol/server';
import type { Context } from 'hono';
import type { Settings } from '../../platform/config.js';
import { settingFlag } from '../../platform/setting-flag.js';
import { namesOf, readTlsFiles } from '../../platform/tls-files.js';
import { clientOf } from './client-address.js';

export class Origins {
  /** Names of this server; those of its certificate too. */
  readonly #names: string[];
  /** Origins of this server under its names, its port and its scheme. */
  readonly #own: ReadonlySet<string>;

  constructor(settings: Settings) {
    const { host, port, allowedHosts, tlsCert, oauthResource } = settings;
    const ofCertificate =
      tlsCert === undefined ? [] : namesOf(readTlsFiles(settings, settingFlag).certificate);
    this.#names = [
      ...new Set([...localhostAllowedHostnames(), bracketed(host), ...allowedHosts, ...ofCertificate]),
    ];
    const scheme = tlsCert === undefined ? 'http' : 'https';
    const addresses = [
      ...this.#names.map((name) => `${scheme}://${name}:${port}`),
      ...(oauthResource === undefined ? [] : [oauthResource]),
    ];
    this.#own = new Set(addresses.map(originOf).filter((origin) => origin !== undefined));
  }

  /**
   * The reason for which a request is refused; undefined if it isn't.
   *
   * @param allowed further origins that may send it
   */
  problemOf(c: Context, allowed: readonly string[]): string | undefined {
    const { protocol, host } = clientOf(c);
    const name = validateHostHeader(host, this.#names);
    if (!name.ok) return `Host: expected one of ${this.#names.join(', ')}; got another`;
    const given = c.req.header('origin');
    // Browsers send it with every request that a foreign page could use.
    if (!given) return undefined;
    const origin = originOf(given);
    const isOwn =
      origin !== undefined && (this.#own.has(origin) || origin === originOf(`${protocol}://${host}`));
    if (isOwn || allowed.includes(given)) return undefined;
    return `Origin: expected ${protocol}://${host} or none; got another`;
  }
}

/** Undefined for text that isn't an address, such as the origin `null` of sandboxed pages. */
function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
