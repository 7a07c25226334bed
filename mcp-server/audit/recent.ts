/** A set of bounded size: the entry that was added or asked for longest ago gives way. */
export class RecentSet {
  readonly #entries = new Set<string>();

  constructor(private readonly most: number) {}

  /** @returns whether it was new */
  add(entry: string): boolean {
    const isNew = !this.#entries.delete(entry);
    this.#entries.add(entry);
    if (this.#entries.size > this.most) this.#entries.delete(this.#entries.values().next().value!);
    return isNew;
  }
}
