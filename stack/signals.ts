/** Ending in good order: a first signal asks for it, a second one insists. */
import { isSupervised } from '../platform/config.js';

/** `npm start` passes on the Ctrl-C that the terminal has delivered already: one press, two signals. */
const SAME_PRESS_MS = 300;

export interface ShutdownRequests {
  /** Somebody asked for the end: once. */
  first: Promise<void>;
  /** Somebody asked again. */
  second: Promise<void>;
  /** Aborted with the first request. */
  signal: AbortSignal;
}

/**
 * Listens for SIGTERM, SIGINT and SIGHUP. A supervised process leaves the last two to its supervisor, whose terminal
 * they come from, and takes the end of the supervisor for a request.
 */
export function shutdownRequests(): ShutdownRequests {
  const supervised = isSupervised();
  const asked = new AbortController();
  let insist: () => void;
  const first = new Promise<void>((resolve) => asked.signal.addEventListener('abort', () => resolve()));
  const second = new Promise<void>((resolve) => (insist = resolve));
  let firstMs = 0;
  const request = () => {
    if (!asked.signal.aborted) {
      firstMs = Date.now();
      asked.abort();
    } else if (Date.now() - firstMs > SAME_PRESS_MS) insist();
  };
  process.on('SIGTERM', request);
  for (const signal of ['SIGINT', 'SIGHUP'] as const)
    process.on(signal, supervised ? () => undefined : request);
  if (supervised) onParentExit(() => asked.abort());
  return { first, second, signal: asked.signal };
}

/** Calls `gone` when the process that started this one, with a pipe as its standard input, has ended. */
export function onParentExit(gone: () => void): void {
  process.stdin.on('end', gone);
  process.stdin.on('error', gone);
  process.stdin.resume();
}
