/**
 * Which Temporal to talk to: an address from the environment (TEMPORAL_ADDRESS and its family), a profile of
 * Temporal's own configuration when TEMPORAL_PROFILE names one, else the embedded server of LONGHAUL_HOME, which
 * leaves its address in `stack.json`. Never a profile that nobody named.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';

/** Where the running embedded stack says what it is; written by `longhaul up` and `longhaul temporal`. */
export function stackFile(home: string): string {
  return join(home, 'stack.json');
}

/** What `stack.json` holds. */
export interface StackState {
  /** `host:port` of the embedded Temporal's frontend. */
  temporalAddress?: string;
  /** The embedded Temporal UI. */
  temporalUiUrl?: string;
  /** The MCP endpoint. */
  mcpUrl?: string;
  /** PID of the supervisor. */
  supervisorPid?: number;
  /** PID of the embedded Temporal. */
  temporalPid?: number;
  /** PID of the worker that the supervisor runs. */
  workerPid?: number;
  /** PID of the MCP server that the supervisor runs. */
  serverPid?: number;
}

/** The stack's state as last written; empty when there is none. */
export function readStackState(home: string): StackState {
  try {
    return JSON.parse(readFileSync(stackFile(home), 'utf8')) as StackState;
  } catch {
    return {};
  }
}

/**
 * Is a Temporal named by the environment, so that none has to be embedded?
 */
export function usesExternalTemporal(environment: NodeJS.ProcessEnv = process.env): boolean {
  return Boolean(environment['TEMPORAL_ADDRESS'] || environment['TEMPORAL_PROFILE']);
}

/**
 * How to connect to Temporal: address, TLS, API key and namespace.
 *
 * @returns undefined when nothing is named and no embedded server has left its address yet
 */
export function temporalConnectConfig(
  home: string,
  environment: NodeJS.ProcessEnv = process.env,
): ClientConnectConfig | undefined {
  if (usesExternalTemporal(environment)) {
    const overrideEnvVars = Object.fromEntries(
      Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const profile = environment['TEMPORAL_PROFILE'];
    return loadClientConnectConfig({ ...(profile ? { profile } : { disableFile: true }), overrideEnvVars });
  }
  const { temporalAddress } = readStackState(home);
  if (!temporalAddress) return undefined;
  // The embedded server has no TLS, no keys and one namespace: what the environment says of those is not for it.
  return loadClientConnectConfig({
    disableFile: true,
    overrideEnvVars: { TEMPORAL_ADDRESS: temporalAddress },
  });
}
