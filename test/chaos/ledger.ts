/** Ledger written by the work itself: which steps ran, how often, and how long they paused in between. */
import { existsSync, readFileSync } from 'node:fs';
import type { Outcome } from './operations.js';

interface Line {
  part: number;
  what: 'start' | 'done';
  atMs: number;
}

/** Parts of a pipeline are steps, those of a tool activities. */
export class Ledger {
  constructor(readonly path: string) {}

  #linesOf(name: string): Line[] {
    const text = existsSync(this.path) ? readFileSync(this.path, 'utf8') : '';
    return text
      .split('\n')
      .map((line) => line.split(' '))
      .filter(([of]) => of === name)
      .map(([, part, what, at]) => ({ part: Number(part), what: what as Line['what'], atMs: Number(at) }));
  }

  /**
   * A step runs once: it outlives its worker. An activity whose worker was killed may run again, but not once it is known to be done:
   * when a later one has begun.
   */
  violationsOf({ name, tool }: Outcome): string[] {
    const lines = this.#linesOf(name);
    const violations = lines
      .filter(({ part }, index) => lines.slice(0, index).some((before) => before.part > part))
      .map(({ part, what }) => `${name}: part ${part} says ${what} after a later part has begun`);
    if (tool !== 'steps') return violations;
    const times = (part: number, what: Line['what']) =>
      lines.filter((line) => line.part === part && line.what === what).length;
    const notOnce = [1, 2, 3]
      .filter((part) => times(part, 'start') !== 1 || times(part, 'done') !== 1)
      .map(
        (part) =>
          `${name}: step ${part} started ${times(part, 'start')} times, and ended ${times(part, 'done')} times`,
      );
    return [...violations, ...notOnce];
  }

  /** How long after the end of a part the next one began, in milliseconds. */
  gapsMsOf({ name }: Outcome): number[] {
    const lines = this.#linesOf(name);
    return lines.flatMap(({ part, what, atMs }) => {
      const next = lines.find((line) => line.part === part + 1 && line.what === 'start');
      const isLast = !lines.some((line) => line.part === part && line.what === 'done' && line.atMs > atMs);
      return what === 'done' && isLast && next ? [next.atMs - atMs] : [];
    });
  }
}
