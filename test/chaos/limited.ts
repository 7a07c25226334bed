/** Time limits of single calls: a stopped process, or a link that drops everything, never answers. */
import { setTimeout as delay } from 'node:timers/promises';

/** Limit of one call of a client, in milliseconds. */
export const CALL_MS = 10_000;
/** Limit of an answer to a question, which takes several calls over some protocols. */
export const ANSWER_MS = 25_000;

/** @returns undefined in place of an error or of no answer in time */
export async function attempted<T>(
  call: (signal: AbortSignal) => Promise<T>,
  limitMs: number,
): Promise<T | undefined> {
  const ended = new AbortController();
  // Not every call can be ended by a signal.
  const late = delay(limitMs, undefined, { signal: ended.signal }).catch(() => undefined);
  try {
    return await Promise.race([call(ended.signal).catch(() => undefined), late]);
  } finally {
    ended.abort();
  }
}
