/** A semaphore with two priorities, whose waiters have a time limit. */
import { LonghaulError } from '../../operations/errors.js';

interface Waiter {
  resolve: () => void;
  timer: NodeJS.Timeout;
}

export class Slots {
  #taken = 0;
  readonly #waiting = new Set<Waiter>();
  readonly #urgent = new Set<Waiter>();

  constructor(private readonly limit: number) {}

  get isUnused(): boolean {
    return this.#taken === 0;
  }

  /**
   * Waits for a slot.
   *
   * @param limitMs maximum wait, in milliseconds
   * @param isUrgent takes precedence over waiters that aren't
   * @returns a function that frees the slot
   * @throws LonghaulError `unavailable` if no slot became free in that time
   */
  async enter(limitMs: number, isUrgent: boolean): Promise<() => void> {
    if (this.#taken < this.limit) this.#taken += 1;
    else await this.#wait(limitMs, isUrgent ? this.#urgent : this.#waiting);
    return () => this.#leave();
  }

  #wait(limitMs: number, queue: Set<Waiter>): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        queue.delete(waiter);
        reject(new LonghaulError('unavailable', 'too many calls are in progress; try again shortly'));
      }, limitMs);
      const waiter: Waiter = { resolve, timer };
      queue.add(waiter);
    });
  }

  /** Passes the slot to the next waiter. */
  #leave(): void {
    const queue = this.#urgent.size > 0 ? this.#urgent : this.#waiting;
    const [next] = queue;
    if (!next) {
      this.#taken -= 1;
      return;
    }
    queue.delete(next);
    clearTimeout(next.timer);
    next.resolve();
  }
}
