/** Waits on conditions, and free ports, for tests that may start no process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isPortFree } from '../../stack/ports.js';

/** Ports of this process of Jest: below those that the system gives to outgoing connections, and shared with nobody. */
const PORTS_EACH = 2_000;
const firstPort = 12_000 + (Number(process.env['JEST_WORKER_ID'] ?? 0) % 8) * PORTS_EACH;
let nextPort = Math.floor(Math.random() * PORTS_EACH);

/** A port that nothing listens on now, and that this process hasn't had lately. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + (nextPort++ % PORTS_EACH);
    if (await isPortFree('127.0.0.1', port)) return port;
  }
}

/**
 * Polls until `condition` holds or gives a value; fails after `limitMs`. The interval grows from 50 to 250 ms, so that long waits leave
 * the processors to other tests.
 */
export async function eventually<T>(
  what: string | (() => string),
  condition: () => T | Promise<T>,
  limitMs = 120_000,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + limitMs;
  for (let intervalMs = 50; ; intervalMs = Math.min(250, intervalMs * 1.05)) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline)
      throw new Error(`not within ${limitMs} ms: ${typeof what === 'string' ? what : what()}`);
    await sleep(intervalMs);
  }
}
