/** Keeps one process of the stack running: when it ends unasked, it is started again, ever more slowly. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit } from './launcher.js';
import { messageOf, type Say } from './stack-error.js';

const FIRST_BACKOFF_MS = 200;
const LONGEST_BACKOFF_MS = 10_000;
/** Up this long, a process counts as healthy again, and its next end as the first. */
const HEALTHY_AFTER_MS = 30_000;

/** A process that was started. */
export interface RunningProcess {
  exited: Promise<Exit>;
  /** SIGTERM, then SIGKILL after `graceMs`; resolves when it has ended. */
  stop(graceMs: number): Promise<void>;
}

/** A process that is kept running. */
export interface KeptProcess {
  /** Ends it for good. Called again with a shorter grace, that one holds. */
  stop(graceMs: number): Promise<void>;
}

/**
 * @param name what it is called in notices
 * @param start starts it (again); a failure counts as an end
 * @param first the process, when it has been started already
 */
export function keepRunning(
  name: string,
  start: () => Promise<RunningProcess>,
  say: Say,
  first?: RunningProcess,
): KeptProcess {
  const stopping = new AbortController();
  let graceMs = 0;
  let current = first;

  const run = async () => {
    let backoffMs = FIRST_BACKOFF_MS;
    while (!stopping.signal.aborted) {
      const startedMs = Date.now();
      let how: string;
      try {
        current ??= await start();
        // Stopped while it was being started: it hasn't heard of it.
        if (stopping.signal.aborted) await current.stop(graceMs);
        ({ how } = await current.exited);
        how = `ended with ${how}`;
      } catch (error) {
        how = `could not be started: ${messageOf(error)}`;
      }
      current = undefined;
      if (stopping.signal.aborted) return;
      if (Date.now() - startedMs >= HEALTHY_AFTER_MS) backoffMs = FIRST_BACKOFF_MS;
      say(`${name} ${how}; starting it again in ${backoffMs / 1000} s.`);
      await sleep(backoffMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      backoffMs = Math.min(backoffMs * 2, LONGEST_BACKOFF_MS);
    }
  };
  const ended = run();

  return {
    async stop(limitMs) {
      graceMs = limitMs;
      stopping.abort();
      await current?.stop(limitMs);
      await ended;
    },
  };
}
