/** The end of a server process: waits that have an answer for it give that before their connections are closed. */
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

/** How long such waits get for their answers, in milliseconds. */
const LIMIT_MS = 2_000;

export class Closing {
  readonly #controller = new AbortController();
  readonly #waits = new Set<Promise<unknown>>();

  /** Fires as the server is told to stop. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for what ends with an answer once the signal fires. */
  async during<T>(wait: Promise<T>): Promise<T> {
    this.#waits.add(wait);
    return wait.finally(() => this.#waits.delete(wait));
  }

  /** Resolves once the waits' answers are with their transports. */
  async close(): Promise<void> {
    this.#controller.abort();
    const limit = new AbortController();
    await Promise.race([
      Promise.allSettled(this.#waits),
      delay(LIMIT_MS, undefined, { signal: limit.signal }).catch(() => undefined),
    ]);
    limit.abort();
    // From a wait's end to its transport there are only promises, and these are through by the next turn.
    await nextTurn();
  }
}
