/** Settings of limits: how much of a server process callers may use. docs/limits.md has the table. */
import { z } from 'zod';

const count = z.coerce.number().int().min(1).max(1_000_000);

export const limitSettingsShape = {
  /** Starts of operations on all protocols, per principal, minute and server process. Default: 600; 60,000 without authentication. */
  kickoffsPerMinute: count,
  /** Reads of jobs and requests of MCP over HTTP, per principal, minute and server process. Default: 6,000; without authentication 600,000. */
  statusPerMinute: count,
  /** Starts of operations of all callers together, per minute and server process. Default: 60,000. */
  serverKickoffsPerMinute: count,
  /** Reads of jobs and requests of MCP over HTTP of all callers together, per minute and server process. Default: 600,000. */
  serverStatusPerMinute: count,
  /**
   * Requests over HTTP that a principal may have open at a time, among them waits and streams, per server process. Default: 1,000;
   * without authentication 20,000.
   */
  maxOpenRequests: count,
  /** Requests over HTTP of all callers together that are open at a time, per server process. Default: 20,000. */
  serverMaxOpenRequests: count,
  /** Operations that a principal may have open at a time, on all servers. Default: none. */
  maxOpenOperations: count,
  /** Connections to a server process. Default: 20,000. */
  maxConnections: count,
  /** Connections to a server process from one address that isn't a trusted proxy's. Default: 2,000; without authentication 20,000. */
  maxConnectionsPerAddress: count,
};

type Given = { [Name in keyof typeof limitSettingsShape]?: number };

export interface LimitSettings extends Required<Omit<Given, 'maxOpenOperations'>> {
  maxOpenOperations: number | undefined;
}

/**
 * The settings with their defaults.
 *
 * @param isAuthenticated whether there are several callers to protect from each other
 */
export function resolveLimitSettings(given: Given, isAuthenticated: boolean): LimitSettings {
  const bySort = (shared: number, alone: number) => (isAuthenticated ? shared : alone);
  return {
    kickoffsPerMinute: given.kickoffsPerMinute ?? bySort(600, 60_000),
    statusPerMinute: given.statusPerMinute ?? bySort(6_000, 600_000),
    serverKickoffsPerMinute: given.serverKickoffsPerMinute ?? 60_000,
    serverStatusPerMinute: given.serverStatusPerMinute ?? 600_000,
    maxOpenRequests: given.maxOpenRequests ?? bySort(1_000, 20_000),
    serverMaxOpenRequests: given.serverMaxOpenRequests ?? 20_000,
    maxOpenOperations: given.maxOpenOperations,
    maxConnections: given.maxConnections ?? 20_000,
    maxConnectionsPerAddress: given.maxConnectionsPerAddress ?? bySort(2_000, 20_000),
  };
}
