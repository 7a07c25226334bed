/**
 * Lines about workflows whose code throws. Temporal retries their tasks, so each cause is reported once, and again at the 10th, 100th, ...
 * time with the count.
 */
import { LRUCache } from 'lru-cache';
import { thrownText, type Thrown } from '../../operations/thrown.js';

const REMEMBERED_CAUSES = 1_000;
/** Stack of an error that fails the run: it isn't retried. */
const IS_FAILURE = /^\w*Failure\b/;

export class FailingWorkflows {
  readonly #counts = new LRUCache<string, number>({ max: REMEMBERED_CAUSES });

  /** The text of a line, and whether the code will be retried; undefined if the cause is known. @param who is part of the cause */
  lineOf(who: string, error: unknown): { text: string; isRetried: boolean } | undefined {
    const text = textOf(error);
    if (IS_FAILURE.test((error as Partial<Thrown> | null)?.stack ?? '')) return { text, isRetried: false };
    const key = `${who}\n${text}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    if (!/^10*$/.test(String(count))) return undefined;
    return { text: count === 1 ? text : `${text} (${count} times)`, isRetried: true };
  }

  isKnown(who: string, error: unknown): boolean {
    return this.#counts.has(`${who}\n${textOf(error)}`);
  }
}

function textOf(error: unknown): string {
  const { message = String(error), stack } = (error ?? {}) as Partial<Thrown>;
  return thrownText({ message, stack });
}
