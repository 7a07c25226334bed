/** Numbers and choices that a seed determines (mulberry32). */
export class Random {
  #state: number;

  constructor(readonly seed: number) {
    this.#state = seed | 0;
  }

  /** From 0 to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0, below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** Picks by weight. */
  weighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, choice] of choices) {
      left -= weight;
      if (left < 0) return choice;
    }
    return choices.at(-1)![1];
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  shuffled<T>(values: readonly T[]): T[] {
    const left = [...values];
    return values.map(() => left.splice(Math.floor(this.next() * left.length), 1)[0]!);
  }

  /** Deals the values in random order, all of them before any comes again. */
  deck<T>(values: readonly T[]): () => T {
    let left: T[] = [];
    return () => {
      if (left.length === 0) left = this.shuffled(values);
      return left.pop()!;
    };
  }
}
