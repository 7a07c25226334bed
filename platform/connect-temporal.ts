/**
 * Connects to Temporal with retries: a process can start while Temporal is down, logs that, and recovers. Clients use
 * Temporal's native connection too, at half the CPU of the pure-JavaScript one.
 */
import { setTimeout as delay } from 'node:timers/promises';
// The package's index loads the whole worker, with webpack and RxJS: a fifth of the server's start-up time.
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
 * Connects to Temporal, retrying without a limit.
 *
 * @param home home of the embedded stack, for when the environment names no Temporal
 * @param signal stops the attempts; the promise then rejects with its reason
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
