/** Slots of a pipeline's `concurrency`: one for each running child. */
import { condition } from '@temporalio/workflow';

export class Slots {
  #taken = 0;

  /** @param total number of slots; a page's total changes as its pipeline grants slots and gets them back */
  constructor(public total: number) {}

  get free(): number {
    return Math.max(0, this.total - this.#taken);
  }

  /** Waits for at least one free slot. @returns how many were taken, at most `limit`. @throws CancelledFailure */
  async take(limit = 1): Promise<number> {
    while (this.free < 1) await condition(() => this.free > 0);
    return this.takeFree(limit);
  }

  /** Takes free slots without waiting. @returns how many, at most `limit` */
  takeFree(limit: number): number {
    const count = Math.min(limit, this.free);
    this.#taken += count;
    return count;
  }

  giveBack(count: number): void {
    this.#taken -= count;
  }

  change(by: number): void {
    this.total += by;
  }

  /**
   * Works on all items in order. Only one waits for a slot at a time, because each awaited condition costs in every activation.
   *
   * @throws what starting or the first item threw, e.g. CancelledFailure; only after all that started have ended
   */
  async runAll<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    const running: Promise<void>[] = [];
    await endAll(running, async () => {
      for (let next = 0; next < items.length;) {
        const count = await this.take(items.length - next);
        for (const item of items.slice(next, next + count)) {
          const ended = work(item).finally(() => this.giveBack(1));
          // Awaited below: no unhandled rejection until then.
          ended.catch(() => undefined);
          running.push(ended);
        }
        next += count;
      }
    });
  }
}

/** Waits until `start` and all that it adds to `running` have ended. @throws what `start` threw, or else the first of `running` */
export async function endAll(running: Promise<void>[], start: () => Promise<void>): Promise<void> {
  const started = await Promise.allSettled([start()]);
  for (const outcome of [...started, ...(await Promise.allSettled(running))])
    if (outcome.status === 'rejected') throw outcome.reason;
}
