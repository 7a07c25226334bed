/** Runs one part of the stack in the foreground of a terminal, a service manager or `longhaul up`, until a signal ends it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isSupervised } from '../platform/settings/index.js';

const STOP_LIMIT_MS = 10_000;
/** IPC message to the supervisor: the part is ready. */
export const READY_MESSAGE = 'ready';

export interface ForegroundPart {
  stop(): Promise<void>;
  /** Limit of a graceful stop, in milliseconds. Default: 10 s. */
  stopLimitMs?: number;
  /** Settles when the part ends by itself; undefined if it never does. */
  done?: Promise<unknown>;
}

/**
 * Runs a part until a shutdown request, then stops it within its time limit.
 *
 * @returns the exit code: 0 after a graceful stop, 1 after the time limit, 130 after a second request
 * @throws the error with which the part failed to start, or ended
 */
export async function runInForeground(start: () => Promise<ForegroundPart>): Promise<number> {
  const requests = shutdownRequests();
  const part = await Promise.race([start(), requests.first]);
  if (!part) return 0;
  process.send?.(READY_MESSAGE, () => undefined);
  const done = part.done ?? new Promise<never>(() => undefined);
  const early = await Promise.race([requests.first.then(() => 'asked'), done.then(() => 'ended')]);
  if (early === 'ended') return 1;
  return Promise.race([
    part.stop().then(() => 0),
    sleep(part.stopLimitMs ?? STOP_LIMIT_MS, 1, { ref: false }),
    requests.second.then(() => 130),
  ]);
}

/** `npm start` forwards a Ctrl-C that the terminal already delivered, so one key press causes two signals. */
const SAME_PRESS_MS = 300;

/** Shutdown requests: the first asks for a graceful stop, the second for an immediate one. */
export interface ShutdownRequests {
  first: Promise<void>;
  second: Promise<void>;
  signal: AbortSignal;
}

/** Listens for SIGTERM, SIGINT and SIGHUP. A supervised process leaves SIGINT and SIGHUP to its supervisor, and ends with it. */
export function shutdownRequests(): ShutdownRequests {
  const supervised = isSupervised();
  const asked = new AbortController();
  let insist: () => void;
  const first = new Promise<void>((resolve) => asked.signal.addEventListener('abort', () => resolve()));
  const second = new Promise<void>((resolve) => (insist = resolve));
  let firstMs = 0;
  const request = () => {
    if (!asked.signal.aborted) {
      firstMs = performance.now();
      asked.abort();
    } else if (performance.now() - firstMs > SAME_PRESS_MS) insist();
  };
  process.on('SIGTERM', request);
  for (const signal of ['SIGINT', 'SIGHUP'] as const)
    process.on(signal, supervised ? () => undefined : request);
  if (supervised) onParentExit(() => asked.abort());
  return { first, second, signal: asked.signal };
}

/** Calls `gone` when the parent, which holds the pipe to standard input, has ended. */
function onParentExit(gone: () => void): void {
  process.stdin.on('end', gone);
  process.stdin.on('error', gone);
  process.stdin.resume();
}
