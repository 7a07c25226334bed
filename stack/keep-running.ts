/**
 * Restarts one process of the stack whenever it ends. A process that was ready before it ended is restarted at once: repeated
 * kills aren't a crash loop. One that ends before it is ready is restarted with exponential back-off.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit } from './launcher.js';
import { messageOf, type Say } from './stack-error.js';

const FIRST_BACKOFF_MS = 200;
const LONGEST_BACKOFF_MS = 10_000;
/** A process that ran for this long without becoming ready, e.g. while Temporal is down, isn't in a crash loop either. */
const LONG_RUN_MS = 30_000;

/** A started process. */
export interface RunningProcess {
  exited: Promise<Exit>;
  /** Whether it has been ready. Default: ready once started. */
  wasReady?: () => boolean;
  /** SIGTERM, then SIGKILL after `graceMs`; resolves when it has ended. */
  stop(graceMs: number): Promise<void>;
}

/** A process that is restarted whenever it ends. */
export interface SupervisedProcess {
  /** Stops it permanently. When called again with a shorter grace period, that one applies. */
  stop(graceMs: number): Promise<void>;
}

/**
 * @param name name in notices
 * @param start starts it (again); a failure counts as an end
 * @param first the process, if it has been started already
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
      const startedMs = performance.now();
      let how: string;
      let wasReady = false;
      try {
        current ??= await start();
        const running = current;
        // stop() was called while it was being started.
        if (stopping.signal.aborted) await current.stop(graceMs);
        ({ how } = await running.exited);
        how = `ended with ${how}`;
        wasReady = running.wasReady?.() ?? true;
      } catch (error) {
        how = `could not be started: ${messageOf(error)}`;
      }
      current = undefined;
      if (stopping.signal.aborted) return;
      if (wasReady || performance.now() - startedMs >= LONG_RUN_MS) backoffMs = FIRST_BACKOFF_MS;
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
