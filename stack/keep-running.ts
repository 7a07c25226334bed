/**
 * Restarts one process of the stack whenever it ends: at once if it was ready, because repeated kills aren't a crash loop, else
 * with exponential back-off.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit } from './launcher.js';
import { messageOf, type Say } from './stack-error.js';

const FIRST_BACKOFF_MS = 200;
const LONGEST_BACKOFF_MS = 10_000;
/** A process that ran this long without becoming ready isn't in a crash loop either: Temporal may be down. */
const LONG_RUN_MS = 30_000;

export interface RunningProcess {
  exited: Promise<Exit>;
  /** Whether it has been ready. Default: ready once started. */
  wasReady?: () => boolean;
  /** Sends SIGTERM, then SIGKILL after `graceMs`. Resolves when the process has ended. */
  stop(graceMs: number): Promise<void>;
}

export interface SupervisedProcess {
  /** Stops the process for good. A later call can shorten the grace period. */
  stop(graceMs: number): Promise<void>;
}

/** @param start (re)starts the process; a failure counts as an end @param first the process, if it is already running */
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
        // stop() was called during the start.
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
