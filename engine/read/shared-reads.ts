/** Reads that concurrent callers share. Callers join only a queued read, not yet sent, so they see all that happened before their call. */
import { withTimeout } from '../../platform/with-timeout.js';

/** How long a queued read waits for the running one, in milliseconds, so a slow read doesn't delay others. */
const QUEUE_LIMIT_MS = 100;

interface KeyReads<T> {
  running: Promise<T>;
  queued?: Promise<T>;
}

export class SharedReads<T> {
  readonly #reads = new Map<string, KeyReads<T>>();

  /** Reads now, or with the queued read. @param key callers with equal keys share reads @param read must be equivalent for equal keys */
  read(key: string, read: () => Promise<T>): Promise<T> {
    const reads = this.#reads.get(key);
    if (!reads) return this.#run(key, read);
    reads.queued ??= withTimeout(Promise.allSettled([reads.running]), QUEUE_LIMIT_MS).then(() =>
      this.#run(key, read),
    );
    return reads.queued;
  }

  #run(key: string, read: () => Promise<T>): Promise<T> {
    const reads: KeyReads<T> = { running: read() };
    this.#reads.set(key, reads);
    return reads.running.finally(() => {
      // A queued read replaces this entry once sent.
      if (this.#reads.get(key) === reads && !reads.queued) this.#reads.delete(key);
    });
  }
}
