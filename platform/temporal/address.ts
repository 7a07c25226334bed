/** Finds Temporal: named by the environment, else embedded in a running stack that wrote its addresses to `stack.json`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../../operations/errors.js';

/** State file of the running stack, written by `longhaul up` and `longhaul temporal`. */
export function stackFile(home: string): string {
  return join(home, 'stack.json');
}

export interface StackState {
  /** `host:port` of the embedded Temporal's frontend. */
  temporalAddress?: string;
  temporalUiUrl?: string;
  mcpUrl?: string;
  supervisorPid?: number;
  temporalPid?: number;
  workerPid?: number;
  serverPid?: number;
}

/** The stack's state as last written; empty without a state file. */
export function readStackState(home: string): StackState {
  return attempt(() => JSON.parse(readFileSync(stackFile(home), 'utf8')) as StackState) ?? {};
}

/** Whether the environment names a Temporal, which replaces the embedded one. */
export function usesExternalTemporal(environment: NodeJS.ProcessEnv = process.env): boolean {
  return Boolean(environment['TEMPORAL_ADDRESS'] || environment['TEMPORAL_PROFILE']);
}

/** Oldest Temporal server with the updates, start conflict policies and pending cancels that the engine uses. */
export const OLDEST_SERVER = '1.29.0';
