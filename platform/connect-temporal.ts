/**
 * The connection to Temporal, made in a loop: a process starts while Temporal is down, says so, and recovers by
 * itself. Temporal's native connection is used for clients too, at half the CPU of the pure-JavaScript one.
 */
import { setTimeout as delay } from 'node:timers/promises';
// The package's index loads the whole worker, with webpack's and RxJS's modules: a fifth of the server's start.
import { NativeConnection } from '@temporalio/worker/lib/connection.js';
import type { Logger } from './log.js';
import { temporalConnectConfig } from './temporal-address.js';
import { installRuntime } from './temporal-runtime.js';

/** Pause between attempts to connect, in milliseconds. */
const RETRY_MS = 500;

export interface ConnectedTemporal {
  connection: NativeConnection;
  namespace: string;
}

/**
 * Connects to Temporal, however long it takes.
 *
 * @param home of the embedded stack, when the environment names no Temporal
 * @param signal ends the attempts; then the promise rejects with its reason
 */
export async function connectTemporal(
  home: string,
  logger: Logger,
  signal?: AbortSignal,
): Promise<ConnectedTemporal> {
  installRuntime(logger);
  let said = '';
  for (;;) {
    signal?.throwIfAborted();
    const config = temporalConnectConfig(home);
    let problem: string;
    if (!config) problem = 'no Temporal is named (TEMPORAL_ADDRESS) and none runs in this home';
    else {
      try {
        const connection = await NativeConnection.connect(config.connectionOptions);
        return { connection, namespace: config.namespace ?? 'default' };
      } catch (error) {
        problem = `no Temporal at ${config.connectionOptions.address}: ${error instanceof Error ? error.message : String(error)}`;
      }
    }
    if (problem !== said) logger.warn(`${problem}; trying again`);
    said = problem;
    await delay(RETRY_MS, undefined, { signal, ref: true });
  }
}
