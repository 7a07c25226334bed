/**
 * Keeps one process of the stack running. A process that was ready before it ended is restarted at once: kills, however
 * many, are no crash loop. One that keeps ending before it is ready is restarted after a growing back-off.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit } from './launcher.js';
import { messageOf, type Say } from './stack-error.js';

const FIRST_BACKOFF_MS = 200;
const LONGEST_BACKOFF_MS = 10_000;
/** A process that ran for this long without becoming ready, e.g. while Temporal is down, is in no crash loop either. */
const LONG_RUN_MS = 30_000;

/** A process that was started. */
export interface RunningProcess {
  exited: Promise<Exit>;
  /** Whether it has been ready to work. Default: ready once it was started. */
  wasReady?: () => boolean;
  /** SIGTERM, then SIGKILL after `graceMs`; resolves when it has ended. */
  stop(graceMs: number): Promise<void>;
}

/** A process that is kept running. */
export interface SupervisedProcess {
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
): SupervisedProcess {
  const stopping = new AbortController();
  let graceMs = 0;
  let current = first;

  const run = async () => {
    let backoffMs = FIRST_BACKOFF_MS;
    while (!stopping.signal.aborted) {
      const startedMs = Date.now();
      let how: string;
      let wasReady = false;
      try {
        current ??= await start();
        const running = current;
        // Stopped while it was being started: it hasn't heard of it.
        if (stopping.signal.aborted) await current.stop(graceMs);
        ({ how } = await running.exited);
        how = `ended with ${how}`;
        wasReady = running.wasReady?.() ?? true;
      } catch (error) {
        how = `could not be started: ${messageOf(error)}`;
      }
      current = undefined;
      if (stopping.signal.aborted) return;
      if (wasReady || Date.now() - startedMs >= LONG_RUN_MS) backoffMs = FIRST_BACKOFF_MS;
      if (wasReady) {
        say(`${name} ${how}; starting it again.`);
        continue;
      }
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
