/** Settings of the server's listener: TLS, names, origins. */
import { isIP } from 'node:net';
import { z } from 'zod';
import { commaSeparated, list } from './setting-types.js';
import { readTlsFiles, type TlsSettings } from './tls-files.js';

export const transportSettingsShape = {
  /** PEM file with the server's certificate, then those of its intermediate authorities: the server then speaks HTTPS only. */
  tlsCert: z.string().min(1),
  /** PEM file with the key of `tlsCert`, without a passphrase. */
  tlsKey: z.string().min(1),
  /** PEM file with the authorities of client certificates, which are then asked for. Needed for the authentication `mtls`. */
  tlsClientCa: z.string().min(1),
  /**
   * Addresses and networks (CIDR) of proxies whose `Forwarded` and `X-Forwarded-` headers are believed: for the client's address,
   * and the scheme and host that it called. Default: none.
   */
  trustedProxies: commaSeparated(
    z.string().refine(isNetwork, 'expected addresses or networks, such as 10.0.0.0/8, separated by commas'),
  ),
  /** Host names, beside loopback, that the server accepts in requests (DNS rebinding protection). */
  allowedHosts: list,
  /** Origins whose pages may call the HTTP jobs API (CORS), e.g. `https://app.example.com`. Default: none. */
  corsOrigins: commaSeparated(
    z.string().refine(isOrigin, 'expected an origin, such as https://app.example.com, without a path'),
  ),
};

type Given = {
  [Name in keyof typeof transportSettingsShape]?: z.infer<(typeof transportSettingsShape)[Name]>;
};

export interface TransportSettings extends TlsSettings {
  trustedProxies: string[];
  allowedHosts: string[];
  corsOrigins: string[];
}

/**
 * The settings with their defaults.
 *
 * @param absolute makes a path of a setting absolute
 */
export function resolveTransportSettings(
  given: Given,
  absolute: (name: keyof TlsSettings, path: string) => string,
): TransportSettings {
  const path = (name: keyof TlsSettings) => {
    const value = given[name];
    return value === undefined ? undefined : absolute(name, value);
  };
  return {
    tlsCert: path('tlsCert'),
    tlsKey: path('tlsKey'),
    tlsClientCa: path('tlsClientCa'),
    trustedProxies: given.trustedProxies ?? [],
    allowedHosts: given.allowedHosts ?? [],
    corsOrigins: given.corsOrigins ?? [],
  };
}

/**
 * The reason why no server may start with these settings; undefined if one may. Reads the files of TLS.
 *
 * @param flag name of a setting -> its flag
 */
export function transportConflict(
  settings: TlsSettings & { authentication: readonly string[] },
  flag: (name: keyof TlsSettings | 'authentication') => string,
): string | undefined {
  const { tlsCert, tlsKey, tlsClientCa, authentication } = settings;
  const usesMtls = authentication.includes('mtls');
  if (tlsCert !== undefined && tlsKey === undefined)
    return `${flag('tlsCert')}: expected ${flag('tlsKey')} too, the key of the certificate`;
  if (tlsKey !== undefined && tlsCert === undefined)
    return `${flag('tlsKey')}: expected ${flag('tlsCert')} too, the certificate of the key`;
  if (tlsClientCa !== undefined && tlsCert === undefined)
    return `${flag('tlsClientCa')}: expected ${flag('tlsCert')} and ${flag('tlsKey')} too`;
  if (usesMtls && tlsClientCa === undefined)
    return `${flag('authentication')} mtls: expected ${flag('tlsClientCa')} too, the authorities of client certificates`;
  if (tlsClientCa !== undefined && !usesMtls)
    return `${flag('tlsClientCa')}: expected mtls in ${flag('authentication')}; client certificates would have no effect`;
  if (tlsCert === undefined) return undefined;
  try {
    readTlsFiles(settings, flag);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function isNetwork(text: string): boolean {
  const [, address = '', prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!;
  return bits > 0 && (prefix === undefined || Number(prefix) <= bits);
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}
