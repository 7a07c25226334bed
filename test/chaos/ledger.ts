/** Ledger written by the work itself: which parts ran, how often, and how long they paused in between. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Operation } from './operations.js';
import type { Violations } from './violations.js';

interface Line {
  /** Name that the work was started with; a repeated start without an idempotency key has another one. */
  name: string;
  part: number;
  what: 'start' | 'done';
  atMs: number;
}

/** Between two looks for new lines, in milliseconds. */
const LOOK_MS = 5;

/**
 * Waits until a part ends.
 *
 * @param isMeant whether an operation's part is one of those waited for
 * @param limitMs after which it gives up
 * @returns whether one has ended
 */
export async function partEnds(
  path: string,
  isMeant: (name: string, part: number) => boolean,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const linesOf = () => (existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []);
  const before = linesOf().length;
  for (const endMs = performance.now() + limitMs; performance.now() < endMs;) {
    for (const line of linesOf().slice(Math.max(0, before - 1))) {
      const [name = '', part, what] = line.split(' ');
      if (what === 'done' && isMeant(name, Number(part))) return true;
    }
    await delay(LOOK_MS, undefined, { signal });
  }
  return false;
}

/** Longest time between a step's end and the next one's beginning, in milliseconds, without faults in between. */
const LONGEST_GAP_MS = 30_000;

/** The ledger as it is at the end of a run. */
export class Ledger {
  readonly #byOperation = new Map<string, Line[]>();

  constructor(path: string) {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    for (const line of text.split('\n').filter(Boolean)) {
      const [name = '', part, what, at] = line.split(' ');
      const operation = name.split('~')[0]!;
      const lines = this.#byOperation.get(operation) ?? [];
      lines.push({ name, part: Number(part), what: what as Line['what'], atMs: Number(at) });
      this.#byOperation.set(operation, lines);
    }
  }

  /** Checks the parts of an operation against its tool. */
  check({ name, kind, tool, observer }: Operation, violations: Violations): void {
    const lines = this.#byOperation.get(name) ?? [];
    const starts = [...new Set(lines.map((line) => line.name))];
    if (starts.length > 1) violations.add('started twice', `${name} was started ${starts.length} times`);
    for (const start of starts)
      this.#checkOrder(
        start,
        lines.filter((line) => line.name === start),
        tool.isOnce === true,
        violations,
      );
    if (!observer.isClosed || kind === 'long') return;
    for (let part = 1; part <= tool.parts; part += 1)
      if (!lines.some((line) => line.part === part && line.what === 'done'))
        violations.add('step lost', `${name}: part ${part} is not done`);
  }

  /**
   * An activity whose worker was killed may run again, but not once it is known to be done: when a later one has begun. A step that
   * isn't idempotent runs once.
   */
  #checkOrder(start: string, lines: Line[], isOnce: boolean, violations: Violations): void {
    for (const [index, { part, what }] of lines.entries())
      if (lines.slice(0, index).some((before) => before.part > part))
        violations.add('step repeated', `${start}: part ${part} says ${what} after a later part has begun`);
    if (!isOnce) return;
    for (const part of new Set(lines.map((line) => line.part))) {
      const times = lines.filter((line) => line.part === part && line.what === 'start').length;
      if (times > 1) violations.add('step repeated', `${start}: part ${part} started ${times} times`);
    }
  }

  /**
   * Pauses between the end of a part and the beginning of the next one, in milliseconds, without the time of faults.
   *
   * @param faultMs time of faults between two times of the day
   */
  gapsMs({ name }: Operation, faultMs: (fromMs: number, toMs: number) => number): number[] {
    const lines = this.#byOperation.get(name) ?? [];
    return lines.flatMap((line) => {
      const next = lines.find(
        (other) => other.name === line.name && other.part === line.part + 1 && other.what === 'start',
      );
      if (line.what !== 'done' || !next) return [];
      return [Math.max(0, next.atMs - line.atMs - faultMs(line.atMs, next.atMs))];
    });
  }

  checkGaps(operation: Operation, gapsMs: number[], violations: Violations): void {
    for (const gapMs of gapsMs)
      if (gapMs > LONGEST_GAP_MS)
        violations.add('late step', `${operation.name}: a step waited for ${Math.round(gapMs)} ms`);
  }
}
