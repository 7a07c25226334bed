/** Waiting for a server that is gone: nothing about that touches the work, so a command that waits tries again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RpcError, Unreachable } from './connection.js';
import { ToolRefusal } from './operation-tools.js';

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5_000;
/** How long a server may be gone before nobody waits for it any more, in milliseconds: 15 minutes. */
const GONE_LIMIT_MS = 15 * 60_000;

export interface ReconnectOptions {
  signal: AbortSignal;
  /** Is what is waited for known to exist, so that even a first attempt is worth repeating? Read at each failure. */
  readonly isKnown: boolean;
  /** Told when the server is gone, with the reason, and without one when it is back. */
  onConnectionChange: (reason?: string) => void;
  /** Called with each answer. */
  onReached?: () => void;
}

export class ReconnectPolicy {
  #isReached = false;
  #isDisconnected = false;
  #contactMs = Date.now();
  #retryMs = FIRST_RETRY_MS;

  constructor(private readonly options: ReconnectOptions) {}

  /** The server answered. */
  reached(): void {
    this.options.onReached?.();
    if (this.#isDisconnected) this.options.onConnectionChange();
    this.#isReached = true;
    this.#isDisconnected = false;
    this.#contactMs = Date.now();
    this.#retryMs = FIRST_RETRY_MS;
  }

  /** @throws the error, when another attempt would be no use or it took too long already */
  failed(error: unknown): void {
    // A refusal is an answer too.
    if (isAnswer(error) && !isTransient(error)) this.reached();
    const isOver = Date.now() - this.#contactMs > GONE_LIMIT_MS;
    const isWorthIt = this.#isReached || this.options.isKnown;
    if (!isWorthIt || !isTransient(error) || isOver) throw error;
    if (!this.#isDisconnected) this.options.onConnectionChange((error as Error).message);
    this.#isDisconnected = true;
  }

  /** Waits until the next attempt is due, or the signal fires. */
  async pause(): Promise<void> {
    await pause(this.#retryMs, this.options.signal);
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }

  /**
   * Asks until there is an answer.
   *
   * @returns undefined once the signal has fired
   */
  async retryUntilAnswered<T>(ask: () => Promise<T>): Promise<T | undefined> {
    while (!this.options.signal.aborted) {
      try {
        const answer = await ask();
        this.reached();
        return answer;
      } catch (error) {
        if (this.options.signal.aborted) return undefined;
        this.failed(error);
      }
      await this.pause();
    }
    return undefined;
  }
}

/** Waits, unless the signal fires first. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined);
}

function isTransient(error: unknown): boolean {
  return error instanceof Unreachable || (isAnswer(error) && error.isRetryable);
}

function isAnswer(error: unknown): error is RpcError | ToolRefusal {
  return error instanceof RpcError || error instanceof ToolRefusal;
}
