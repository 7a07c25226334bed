/** Settings of metrics and of the listener for health checks. */
import { z } from 'zod';
import { yesOrNo } from './setting-types.js';

/** Where a process listens. */
export interface ListenAddress {
  host: string;
  port: number;
}

const EXPECTED = 'expected a host and a port, such as 127.0.0.1:9464 or [::]:9464';

export const metricsSettingsShape = {
  /**
   * Whether server and worker keep metrics and serve them as `/metrics`: on `healthAddress`, and on the server's own port only
   * without authentication. Default: true with a `healthAddress`, else false.
   */
  metrics: yesOrNo,
  /**
   * Address, `host:port`, on which the process serves `/healthz`, `/readyz` and `/metrics` without authentication, beside the
   * server's own port. Under `longhaul up` the server has this port, and the worker the next one. Default: none.
   */
  healthAddress: z.string().refine((text) => parseAddress(text) !== undefined, EXPECTED),
};

export interface MetricsSettings {
  metrics: boolean;
  healthAddress: string | undefined;
}

export function resolveMetricsSettings(given: {
  metrics?: boolean;
  healthAddress?: string;
}): MetricsSettings {
  const { metrics, healthAddress } = given;
  return { metrics: metrics ?? healthAddress !== undefined, healthAddress };
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

/** The addresses of the processes of `longhaul up`; undefined without a setting. */
export function addressesUnderUp(
  healthAddress: string | undefined,
): Record<'server' | 'worker', ListenAddress> | undefined {
  if (healthAddress === undefined) return undefined;
  const server = parseAddress(healthAddress)!;
  return { server, worker: { ...server, port: server.port + 1 } };
}

/**
 * The reason why no server may start with these settings; undefined if one may.
 *
 * @param flag name of a setting -> its flag
 */
export function metricsConflict(
  settings: MetricsSettings & { authentication: readonly string[]; host: string; port: number },
  flag: (name: keyof MetricsSettings | 'port') => string,
): string | undefined {
  const { metrics, healthAddress, authentication, port } = settings;
  if (metrics && healthAddress === undefined && authentication.length > 0)
    return `${flag('metrics')} true: expected ${flag('healthAddress')} too: with authentication, the server's own port has no /metrics`;
  if (healthAddress !== undefined && parseAddress(healthAddress)!.port === port)
    return `${flag('healthAddress')} ${healthAddress}: expected another port than ${flag('port')} ${port}`;
  return undefined;
}
