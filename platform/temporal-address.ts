/** Where Temporal is: named by the environment, else embedded in a running stack, whose addresses are in `stack.json`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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
