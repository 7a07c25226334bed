/**
 * Graceful shutdown of a server process: every wait ends with an answer that says so, and every request that has come is
 * answered before its connection is closed. Waits listen to the signal; the servers of each protocol track requests.
 */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/** How long requests get for their answers once the shutdown begins, in milliseconds. */
const LIMIT_MS = 3_000;

/** Names the reason wherever the shutdown ends a wait or refuses a request. */
export const SERVER_STOPPING = 'server_stopping';

/** After how long a client shall try again, in seconds: by then a supervised server is back (bench/restart.ts). */
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

  /** Tracks a request until it is answered: the shutdown waits for it. */
  async track<T>(request: Promise<T>): Promise<T> {
    this.#requests.add(request);
    return request.finally(() => this.#requests.delete(request));
  }

  /** Begins the shutdown. Resolves once the tracked requests' answers are with their transports, or after 3 s. */
  async close(): Promise<void> {
    this.#controller.abort();
    const limit = new AbortController();
    await Promise.race([
      this.#allAnswered(),
      delay(LIMIT_MS, undefined, { signal: limit.signal }).catch(() => undefined),
    ]);
    limit.abort();
    // From a request's end to its transport there are only promises, and these are through by the next turn.
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
 * @param howToContinue where the work stands, and what the client does next
 * @param data further members of the error's data
 */
export function serverStopping(howToContinue: string, data: object = {}): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InternalError,
    `${SERVER_STOPPING}: this server is stopping. ${howToContinue}`,
    { kind: SERVER_STOPPING, retryable: true, retryAfterSeconds: RETRY_AFTER_SECONDS, ...data },
  );
}

/** Refusal of a request that comes during the shutdown: nothing was done. */
export function refusedByShutdown(): ProtocolError {
  return serverStopping(`Nothing was done; send the request again in ${RETRY_AFTER_SECONDS} s.`);
}
