/** Faults that the control port gives to systems: none of the systems' code knows them. */

export interface Fault {
  /** How many further requests are answered 503. */
  down?: number;
  /** How many further POSTs are carried out, with the connection closed before their answer. */
  lose?: number;
  /** How many further POSTs wait until the fault is removed, before they are carried out. */
  holdBefore?: number;
  /** How many further POSTs are carried out at once, and answered when the fault is removed. */
  holdAfter?: number;
}

export class Faults {
  readonly #faults = new Map<string, Fault>();
  readonly #held = new Map<string, (() => void)[]>();

  set(system: string, fault: Fault): void {
    this.#faults.set(system, { ...fault });
  }

  /** Ends the system's faults; requests that were held continue. */
  remove(system: string): void {
    this.#faults.delete(system);
    for (const release of this.#held.get(system)?.splice(0) ?? []) release();
  }

  /** The rest of a system's fault, and how many requests it holds. */
  describe(system: string): Fault & { held: number } {
    return { ...this.#faults.get(system), held: this.#held.get(system)?.length ?? 0 };
  }

  /** Uses up one occurrence of a fault. @returns whether there was one */
  take(system: string, kind: keyof Fault): boolean {
    const fault = this.#faults.get(system);
    if (!fault?.[kind]) return false;
    fault[kind] -= 1;
    return true;
  }

  hold(system: string): Promise<void> {
    return new Promise((release) => {
      this.#held.set(system, [...(this.#held.get(system) ?? []), release]);
    });
  }
}
