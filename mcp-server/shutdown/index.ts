/**
 * Graceful shutdown of a server process: waits end with an answer that names the shutdown, and earlier requests get their answers
 * before their connections close. Waits listen to the signal, and each protocol's server tracks requests.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { withTimeout } from '../../platform/with-timeout.js';

/** How long tracked requests may take once the shutdown begins, in milliseconds. */
const LIMIT_MS = 3_000;

/** Reason given wherever the shutdown ends a wait or refuses a request. */
export const SERVER_STOPPING = 'server_stopping';

/** When clients should retry, in seconds. A supervised server has restarted by then (bench/restart.ts). */
export const RETRY_AFTER_SECONDS = 4;

export class Shutdown {
  readonly #controller = new AbortController();
  readonly #requests = new Set<Promise<unknown>>();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get hasBegun(): boolean {
    return this.signal.aborted;
  }

  /** Makes {@link close} wait for a request. */
  async track<T>(request: Promise<T>): Promise<T> {
    this.#requests.add(request);
    return request.finally(() => this.#requests.delete(request));
  }

  /** Begins the shutdown. Resolves once the answers to tracked requests have reached their transports, or after 3 s. */
  async close(): Promise<void> {
    this.#controller.abort();
    await withTimeout(this.#allAnswered(), LIMIT_MS);
    // An answer reaches its transport through promises alone, which settle by the event loop's next turn.
    await nextTurn();
  }

  async #allAnswered(): Promise<void> {
    while (this.#requests.size > 0) await Promise.allSettled(this.#requests);
  }
}

/**
 * JSON-RPC error of a request that the shutdown has ended or refused: -32603 with data `{kind, retryable, retryAfterSeconds}`.
 *
 * @param howToContinue state of the work, and the client's next step
 * @param data further members of the error's data
 */
export function serverStopping(howToContinue: string, data: object = {}): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InternalError,
    `${SERVER_STOPPING}: this server is stopping. ${howToContinue}`,
    { kind: SERVER_STOPPING, retryable: true, retryAfterSeconds: RETRY_AFTER_SECONDS, ...data },
  );
}

export function refusedByShutdown(): ProtocolError {
  return serverStopping(`Nothing was done; send the request again in ${RETRY_AFTER_SECONDS} s.`);
}
