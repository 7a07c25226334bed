/**
 * The client's end of a request. Proxies describe it in `Forwarded` (RFC 7239) or `X-Forwarded-` headers, which count only from
 * proxies in the settings.
 */
import { BlockList, isIP, isIPv6, type Socket } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';

export interface Client {
  /** IP address; empty if the connection is already closed. */
  address: string;
  protocol: 'http' | 'https';
  /** The server's name and port as the client called it; undefined if it didn't say. */
  host: string | undefined;
}

declare module 'hono' {
  interface ContextVariableMap {
    client?: Client;
  }
}

/** The connection of a request, if it has one. */
export function socketOf(c: Context): Socket | undefined {
  return (c.env as Partial<HttpBindings> | undefined)?.incoming?.socket;
}

export function clientAddress(c: Context): string {
  return clientOf(c).address;
}

export function clientOf(c: Context): Client {
  return c.get('client') ?? directClient(c);
}

/** Middleware that takes the client from the headers of trusted proxies. @param trustedProxies addresses and networks (CIDR) */
export function behindProxies(trustedProxies: readonly string[]): MiddlewareHandler {
  if (trustedProxies.length === 0) return (_c, next) => next();
  const isTrusted = trustedBy(trustedProxies);
  return (c, next) => {
    const direct = directClient(c);
    if (isTrusted(direct.address)) c.set('client', forwardedClient(c, direct, isTrusted));
    return next();
  };
}

/** The part of an address that one client owns: all of IPv4, or the first 64 bits of IPv6 (RFC 4291, section 2.5.4). */
export function networkOf(address: string): string {
  const [plain] = plainAddress(address).split('%') as [string];
  if (!isIPv6(plain)) return plain;
  // The URL parser normalizes addresses.
  const [head, tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const [first, last] = [head, tail].map((groups) => (groups ? groups.split(':') : []));
  const zeros = Array<string>(8 - first!.length - last!.length).fill('0');
  return `${[...first!, ...zeros, ...last!].slice(0, 4).join(':')}::/64`;
}

/** Makes a check for proxies' addresses. @param proxies addresses and networks (CIDR) */
export function trustedBy(proxies: readonly string[]): (address: string) => boolean {
  if (proxies.length === 0) return () => false;
  const networks = networksOf(proxies);
  return (given) => {
    const address = plainAddress(given);
    const family = isIP(address);
    return family !== 0 && networks.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };
}

function networksOf(entries: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const entry of entries) {
    const [address, prefix] = entry.split('/') as [string, string | undefined];
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) networks.addAddress(address, family);
    else networks.addSubnet(address, Number(prefix), family);
  }
  return networks;
}

function directClient(c: Context): Client {
  const socket = socketOf(c);
  return {
    address: plainAddress(socket?.remoteAddress ?? ''),
    protocol: socket && 'encrypted' in socket ? 'https' : 'http',
    host: c.req.header('host'),
  };
}

/**
 * The last address that isn't a trusted proxy's. If `Forwarded` (RFC 7239) and `X-Forwarded-` headers name different clients,
 * neither counts: one comes from the client, through a proxy that only knows the other.
 */
function forwardedClient(c: Context, direct: Client, isTrusted: (address: string) => boolean): Client {
  const standard = parseForwarded(c.req.header('forwarded'));
  const header = (name: string) => c.req.header(`x-forwarded-${name}`);
  const usual = parseXForwarded(header('for'), header('proto'), header('host'));
  const [one, other] = [standard, usual].map((hops) => clientHop(hops, isTrusted));
  if (one && other && one.address !== other.address) return direct;
  const hop = { ...one, ...other };
  return {
    address: hop.address ?? direct.address,
    protocol: hop.protocol ?? direct.protocol,
    host: hop.host ?? direct.host,
  };
}

/** The last hop that isn't a trusted proxy, else the first hop. */
function clientHop(hops: ForwardedHop[], isTrusted: (address: string) => boolean): ForwardedHop | undefined {
  let client: ForwardedHop | undefined;
  for (const hop of [...hops].reverse()) {
    // Hops before one without an address can't be checked.
    if (hop.address === undefined) return client ?? hop;
    client = hop;
    if (!isTrusted(hop.address)) return client;
  }
  return client;
}

/** One proxy's description of its caller. */
interface ForwardedHop {
  /** IP address; undefined if the proxy hides it or it is malformed. */
  address?: string;
  protocol?: 'http' | 'https';
  host?: string;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PAIR = new RegExp(`^\\s*(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")\\s*$`);

/** The hops of `Forwarded`, nearest proxy last (RFC 7239, section 4). */
function parseForwarded(header: string | undefined): ForwardedHop[] {
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
function parseXForwarded(
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
function plainAddress(address: string): string {
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
