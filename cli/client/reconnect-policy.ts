/** Retries requests while the server is unreachable. The work doesn't depend on it, so waiting commands keep waiting. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RpcError, Unreachable } from './connection.js';
import { ToolRefusal } from './operation-tools.js';

const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5_000;
/** Retries an unreachable server for 15 minutes. */
const GONE_LIMIT_MS = 15 * 60_000;

export interface ReconnectOptions {
  signal: AbortSignal;
  /** Whether the target is known to exist, so that even the first attempt is retried. Read at each failure. */
  readonly isKnown: boolean;
  /** Called with the reason when the server becomes unreachable, and without one when it is back. */
  onConnectionChange: (reason?: string) => void;
  /** Called with each answer. */
  onReached?: () => void;
}

export class ReconnectPolicy {
  #isReached = false;
  #isDisconnected = false;
  #contactMs = performance.now();
  #retryMs = FIRST_RETRY_MS;

  constructor(private readonly options: ReconnectOptions) {}

  reached(): void {
    this.options.onReached?.();
    if (this.#isDisconnected) this.options.onConnectionChange();
    this.#isReached = true;
    this.#isDisconnected = false;
    this.#contactMs = performance.now();
    this.#retryMs = FIRST_RETRY_MS;
  }

  /** Records a failed attempt. @throws the error, when it isn't transient or the time limit has passed */
  failed(error: unknown): void {
    // A refusal counts as an answer.
    if (isAnswer(error) && !isTransient(error)) this.reached();
    const isOver = performance.now() - this.#contactMs > GONE_LIMIT_MS;
    const isWorthIt = this.#isReached || this.options.isKnown;
    if (!isWorthIt || !isTransient(error) || isOver) throw error;
    if (!this.#isDisconnected) this.options.onConnectionChange((error as Error).message);
    this.#isDisconnected = true;
  }

  /** Waits until the next attempt is due, or the signal is aborted. */
  async pause(): Promise<void> {
    await pause(this.#retryMs, this.options.signal);
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }

  /** Retries until there is an answer. @returns undefined once the signal is aborted */
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

/** Prints changes of the connection. @param lost what the server's absence means for the command */
export function connectionReporter(
  say: (line: string) => void,
  lost: string,
): ReconnectOptions['onConnectionChange'] {
  return (reason) =>
    say(reason === undefined ? 'the server is back' : `${lost} (${reason}); the work continues; retrying`);
}

/** Sleeps, or returns early when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined);
}

function isTransient(error: unknown): boolean {
  return error instanceof Unreachable || (isAnswer(error) && error.isRetryable);
}

function isAnswer(error: unknown): error is RpcError | ToolRefusal {
  return error instanceof RpcError || error instanceof ToolRefusal;
}
