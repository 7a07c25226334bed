/** Slots of a pipeline's `concurrency`: one for each child that runs. */
import { condition } from '@temporalio/workflow';

export class Slots {
  #taken = 0;

  /** @param total number of slots; that of a page changes as its pipeline grants slots and gets them back */
  constructor(public total: number) {}

  get free(): number {
    return Math.max(0, this.total - this.#taken);
  }

  /**
   * Waits for at least one free slot.
   *
   * @returns how many were taken, at most `limit`
   * @throws CancelledFailure
   */
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

  /** Changes the total number by this many. */
  change(by: number): void {
    this.total += by;
  }

  /** Runs work in a slot. */
  async run(work: () => Promise<void>): Promise<void> {
    await this.take();
    try {
      await work();
    } finally {
      this.giveBack(1);
    }
  }
}
