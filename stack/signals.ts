/** Shutdown requests by signal: the first asks for a graceful stop, the second for an immediate one. */
import { isSupervised } from '../platform/settings/index.js';

/** `npm start` forwards a Ctrl-C that the terminal already delivered, so one key press causes two signals. */
const SAME_PRESS_MS = 300;

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
export function onParentExit(gone: () => void): void {
  process.stdin.on('end', gone);
  process.stdin.on('error', gone);
  process.stdin.resume();
}
