/**
 * Graceful shutdown of a server process: waits end with an answer that names the shutdown, and requests received before it
 * are answered before their connections close. Waits listen to the signal; the servers of each protocol track requests.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { withTimeout } from '../../platform/with-timeout.js';

/** Time for tracked requests to be answered once the shutdown begins, in milliseconds. */
const LIMIT_MS = 3_000;

/** Reason reported wherever the shutdown ends a wait or refuses a request. */
export const SERVER_STOPPING = 'server_stopping';

/** When a client should try again, in seconds: by then a supervised server has restarted (bench/restart.ts). */
export const RETRY_AFTER_SECONDS = 4;

export class Shutdown {
  readonly #controller = new AbortController();
  readonly #requests = new Set<Promise<unknown>>();

  /** Fires when the shutdown begins. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get hasBegun(): boolean {
    return this.signal.aborted;
  }

  /** Tracks a request until it is answered; {@link close} waits for it. */
  async track<T>(request: Promise<T>): Promise<T> {
    this.#requests.add(request);
    return request.finally(() => this.#requests.delete(request));
  }

  /** Begins the shutdown. Resolves once the answers to tracked requests have reached their transports, or after 3 s. */
  async close(): Promise<void> {
    this.#controller.abort();
    await withTimeout(this.#allAnswered(), LIMIT_MS);
    // An answer reaches its transport through promises only, which settle by the next turn of the event loop.
    await nextTurn();
  }

  async #allAnswered(): Promise<void> {
    while (this.#requests.size > 0) await Promise.allSettled(this.#requests);
  }
}

/**
 * The JSON-RPC error of a request that the shutdown has ended or refused: -32603 with data `{kind, retryable,
 * retryAfterSeconds}`.
 *
 * @param howToContinue state of the work, and what the client should do next
 * @param data further members of the error's data
 */
export function serverStopping(howToContinue: string, data: object = {}): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InternalError,
    `${SERVER_STOPPING}: this server is stopping. ${howToContinue}`,
    { kind: SERVER_STOPPING, retryable: true, retryAfterSeconds: RETRY_AFTER_SECONDS, ...data },
  );
}

/** Error for a request received during the shutdown: nothing was done. */
export function refusedByShutdown(): ProtocolError {
  return serverStopping(`Nothing was done; send the request again in ${RETRY_AFTER_SECONDS} s.`);
}
