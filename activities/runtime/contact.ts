/**
 * Detects that a process has lost Temporal. A worker that can't heartbeat has to end its steps before Temporal times them
 * out, because they may then run elsewhere.
 */

export interface ContactLimits {
  /** Time between two calls. */
  intervalMs: number;
  /** Time-out of a call. */
  deadlineMs: number;
  /** Time without contact after which steps are ended. Less than their heartbeat time-out of 120 s. */
  limitMs: number;
}

export const CONTACT_LIMITS: ContactLimits = { intervalMs: 5_000, deadlineMs: 4_000, limitMs: 75_000 };

/** Watches the contact of one process while there are watchers. */
export interface ContactWatch {
  /** The signal fires when the contact is lost; call `release` to end the watch. */
  watch(): { lost: AbortSignal; release: () => void };
}

/** @param call a light call to Temporal; rejects, or hangs, when there is no contact */
export function contactWatch(
  call: (deadlineMs: number) => Promise<unknown>,
  limits: ContactLimits = CONTACT_LIMITS,
): ContactWatch {
  let watchers = 0;
  let lost = new AbortController();
  let stop: (() => void) | undefined;

  const start = () => {
    lost = new AbortController();
    let lastAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    let isStopped = false;
    const next = async () => {
      const isThere = await Promise.race([
        call(limits.deadlineMs).then(
          () => true,
          () => false,
        ),
        new Promise<boolean>((resolve) => setTimeout(resolve, limits.deadlineMs, false).unref()),
      ]);
      if (isStopped) return;
      if (isThere) lastAt = performance.now();
      else if (performance.now() - lastAt >= limits.limitMs) lost.abort();
      timer = setTimeout(() => void next(), limits.intervalMs);
    };
    timer = setTimeout(() => void next(), limits.intervalMs);
    stop = () => {
      isStopped = true;
      clearTimeout(timer);
    };
  };

  return {
    watch() {
      // After a loss the next watcher starts from zero.
      if (watchers === 0 || lost.signal.aborted) {
        stop?.();
        start();
      }
      watchers += 1;
      let isReleased = false;
      return {
        lost: lost.signal,
        release() {
          if (isReleased) return;
          isReleased = true;
          watchers -= 1;
          if (watchers === 0) stop?.();
        },
      };
    },
  };
}
