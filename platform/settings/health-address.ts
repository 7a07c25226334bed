/** Values of the setting `healthAddress`. */

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
