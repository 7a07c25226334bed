/**
 * Address of Temporal: from the environment (TEMPORAL_ADDRESS and its family), from a profile of Temporal's own configuration
 * when TEMPORAL_PROFILE names one, else the embedded server of LONGHAUL_HOME, whose address is in `stack.json`. Profiles are
 * used only when named explicitly.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';

/** Path of the running stack's state file, written by `longhaul up` and `longhaul temporal`. */
export function stackFile(home: string): string {
  return join(home, 'stack.json');
}

/** Content of `stack.json`. */
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

/** The stack's state as last written; empty without a state file. */
export function readStackState(home: string): StackState {
  try {
    return JSON.parse(readFileSync(stackFile(home), 'utf8')) as StackState;
  } catch {
    return {};
  }
}

/**
 * Whether the environment names a Temporal, so that no embedded one is needed.
 */
export function usesExternalTemporal(environment: NodeJS.ProcessEnv = process.env): boolean {
  return Boolean(environment['TEMPORAL_ADDRESS'] || environment['TEMPORAL_PROFILE']);
}

/**
 * Connection options of Temporal: address, TLS, API key and namespace.
 *
 * @returns undefined when the environment names no Temporal and no embedded server has written its address yet
 */
export function temporalConnectConfig(
  home: string,
  environment: NodeJS.ProcessEnv = process.env,
): ClientConnectConfig | undefined {
  if (usesExternalTemporal(environment)) {
    const overrideEnvVars = Object.fromEntries(
      // An empty variable counts as unset.
      Object.entries(environment).filter((entry): entry is [string, string] => Boolean(entry[1])),
    );
    const profile = environment['TEMPORAL_PROFILE'];
    return loadClientConnectConfig({ ...(profile ? { profile } : { disableFile: true }), overrideEnvVars });
  }
  const { temporalAddress } = readStackState(home);
  if (!temporalAddress) return undefined;
  // The embedded server has no TLS, no keys and one namespace: those variables don't apply to it.
  return loadClientConnectConfig({
    disableFile: true,
    overrideEnvVars: { TEMPORAL_ADDRESS: temporalAddress },
  });
}
