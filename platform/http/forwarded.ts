/** Parses the headers in which proxies describe the client: `Forwarded` (RFC 7239) and `X-Forwarded-`. */
import { isIP } from 'node:net';

/** One proxy's description of its caller. */
export interface ForwardedHop {
  /** IP address; undefined if the proxy hides it or it is malformed. */
  address?: string;
  protocol?: 'http' | 'https';
  host?: string;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PAIR = new RegExp(`^\\s*(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")\\s*$`);

/** The hops of `Forwarded`, nearest proxy last (RFC 7239, section 4). */
export function parseForwarded(header: string | undefined): ForwardedHop[] {
  if (header === undefined) return [];
  return splitOutsideQuotes(header, ',').map((element) => {
    const pairs = new Map<string, string>();
    for (const part of splitOutsideQuotes(element, ';')) {
      const [, name, token, quoted] = PAIR.exec(part) ?? [];
      if (name) pairs.set(name.toLowerCase(), token ?? quoted!.replaceAll(/\\(.)/g, '$1'));
    }
    return hopOf(pairs.get('for'), pairs.get('proto'), pairs.get('host'));
  });
}

/** The hops of X-Forwarded-For. Protocol and host come from the nearest proxy, because proxies keep only one. */
export function parseXForwarded(
  addresses: string | undefined,
  protocols: string | undefined,
  hosts: string | undefined,
): ForwardedHop[] {
  const last = (header: string | undefined) => header?.split(',').at(-1)?.trim();
  const hasSome = [addresses, protocols, hosts].some((header) => header !== undefined);
  const list = hasSome ? (addresses ?? '').split(',') : [];
  return list.map((address) => hopOf(address.trim(), last(protocols), last(hosts)));
}

/** Converts an IPv4 address that came over IPv6, `::ffff:192.0.2.1`. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}

function hopOf(
  node: string | undefined,
  protocol: string | undefined,
  host: string | undefined,
): ForwardedHop {
  const address = addressIn(node);
  const scheme = protocol?.toLowerCase();
  return {
    ...(address === undefined ? {} : { address }),
    ...(scheme === 'http' || scheme === 'https' ? { protocol: scheme } : {}),
    ...(host !== undefined && /^[^\s/?#@\\]+$/.test(host) ? { host } : {}),
  };
}

/** Parses `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` and `[2001:db8::1]:4711`. */
function addressIn(node = ''): string | undefined {
  const [, bracketed] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(node) ?? [];
  const [, withPort] = /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(node) ?? [];
  const address = plainAddress(bracketed ?? withPort ?? node);
  return isIP(address) ? address : undefined;
}

function splitOutsideQuotes(text: string, separator: ',' | ';'): string[] {
  const parts = [''];
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === '"') isQuoted = !isQuoted;
    if (character === separator && !isQuoted) parts.push('');
    else
      parts[parts.length - 1] += isQuoted && character === '\\' ? character + (text[++at] ?? '') : character;
  }
  return parts;
}
