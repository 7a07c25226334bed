/** Addresses that processes listen on, and values of the setting `healthAddress`. */
import { isIPv4 } from 'node:net';

/** Whether only this machine can reach an address. Names other than localhost count as reachable from elsewhere. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

export interface ListenAddress {
  host: string;
  port: number;
}

/** The address in `host:port` or `[host]:port`; undefined for other text. */
export function parseAddress(text: string): ListenAddress | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:\s[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : undefined;
}

/** `host:port`, with an IPv6 address in brackets. */
export function formatAddress({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Health addresses of the server and the worker under `longhaul up`; undefined without the setting. */
export function addressesUnderUp(
  healthAddress: string | undefined,
): Record<'server' | 'worker', ListenAddress> | undefined {
  if (healthAddress === undefined) return undefined;
  const server = parseAddress(healthAddress)!;
  return { server, worker: { ...server, port: server.port + 1 } };
}
