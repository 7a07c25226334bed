/** When a resource of an operation reads differently: its result once there is one, a log as it grows. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Engine } from '../../engine/index.js';
import { LonghaulError } from '../../operations/errors.js';
import type { LogPage } from '../../operations/log-page.js';
import { isTerminal } from '../../operations/record.js';
import { parseResourceUri } from './resource-links.js';

/** Shortest and longest pause between two looks at a log, in milliseconds. */
const FIRST_TICK_MS = 2_000;
const LONGEST_TICK_MS = 5_000;

/**
 * Can a resource be followed? Files don't change, so only results and logs can.
 *
 * @throws LonghaulError `unavailable`
 */
export async function canFollow(engine: Engine, principal: string, uri: string): Promise<boolean> {
  const address = parseResourceUri(uri);
  if (!address || address.kind === 'artifact') return false;
  try {
    return (await engine.read(principal, address.token)).status !== 'expired';
  } catch (error) {
    if (error instanceof LonghaulError && error.kind === 'not_found') return false;
    throw error;
  }
}

/**
 * Yields each time that the resource reads differently, until it can't any more. Also once at the beginning, as soon as
 * there is something to read: what has come since the caller last looked isn't known.
 *
 * @throws LonghaulError `not_found` once it is purged
 */
export async function* followResource(
  engine: Engine,
  principal: string,
  uri: string,
  signal: AbortSignal,
): AsyncGenerator<void> {
  const address = parseResourceUri(uri);
  if (address?.kind === 'log') yield* followLog(engine, principal, address.token, address.step, signal);
  if (address?.kind !== 'result') return;
  for await (const { status } of engine.watch(principal, address.token, { signal }))
    if (isTerminal(status)) yield;
}

async function* followLog(
  engine: Engine,
  principal: string,
  token: string,
  step: string,
  signal: AbortSignal,
): AsyncGenerator<void> {
  let tickMs = FIRST_TICK_MS;
  let last = '';
  // A page from where the log ended at first costs the same however long it becomes, and says how long it is.
  let cursor: string | undefined;
  while (!signal.aborted) {
    const page = await readLogPage(
      engine,
      principal,
      token,
      cursor === undefined ? { step, tail: 1 } : { cursor },
    );
    if (page === 'never') return;
    if (page) {
      cursor ??= page.cursor;
      const now = `${page.totalBytes} ${page.isComplete}`;
      tickMs = now === last ? Math.min(LONGEST_TICK_MS, tickMs * 1.25) : FIRST_TICK_MS;
      if (now !== last) yield;
      last = now;
      if (page.isComplete) return;
    }
    await delay(tickMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Undefined while there is no such log yet, or nobody can tell; `never` when there won't be one. */
async function readLogPage(
  engine: Engine,
  principal: string,
  token: string,
  query: object,
): Promise<LogPage | undefined | 'never'> {
  try {
    return await engine.logs(principal, token, query);
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    if (error.kind === 'unavailable') return undefined;
    if (error.kind !== 'not_found') return 'never';
    return isTerminal((await engine.read(principal, token)).status) ? 'never' : undefined;
  }
}
