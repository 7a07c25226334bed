/** Changes of an operation's resources: its result once it exists, a log as it grows. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Guard } from '../guard.js';
import { LonghaulError, undefinedIf } from '../../operations/errors.js';
import type { LogPage } from '../../operations/wire/log-page.js';
import { isTerminal } from '../../operations/record.js';
import { parseResourceUri } from './resource-links.js';

/** Shortest and longest interval between two reads of a log, in milliseconds. */
const FIRST_TICK_MS = 2_000;
const LONGEST_TICK_MS = 5_000;

/**
 * Whether you can follow a resource: only results and logs. Files don't change, and a partial result changes with its operation.
 *
 * @throws LonghaulError `unavailable`
 */
export async function canFollow(engine: Guard, uri: string): Promise<boolean> {
  const address = parseResourceUri(uri);
  if (address?.kind !== 'result' && address?.kind !== 'log') return false;
  return isKept(engine, address.token);
}

/** Whether an operation exists for the caller and hasn't expired. @throws LonghaulError `unavailable` */
export async function isKept(engine: Guard, token: string): Promise<boolean> {
  const record = await engine.read(token).catch(undefinedIf('not_found'));
  return record !== undefined && record.status !== 'expired';
}

/**
 * Yields each time the resource changes, until it is final. Yields first once the resource is readable, since changes after the
 * caller's last read are unknown.
 *
 * @throws LonghaulError `not_found` once it is purged
 */
export async function* followResource(engine: Guard, uri: string, signal: AbortSignal): AsyncGenerator<void> {
  const address = parseResourceUri(uri);
  if (address?.kind === 'log') yield* followLog(engine, address.token, address.step, signal);
  if (address?.kind !== 'result') return;
  for await (const { status } of engine.watch(address.token, { signal, onlyEnd: true }))
    if (isTerminal(status)) yield;
}

async function* followLog(
  engine: Guard,
  token: string,
  step: string,
  signal: AbortSignal,
): AsyncGenerator<void> {
  let tickMs = FIRST_TICK_MS;
  let last = '';
  // A page from the log's first known end has the log's length, at a cost that doesn't depend on that length.
  let cursor: string | undefined;
  while (!signal.aborted) {
    const page = await readLogPage(engine, token, cursor === undefined ? { step, tail: 1 } : { cursor });
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

/** Undefined while the log doesn't exist or can't be read, `never` if it won't exist. */
async function readLogPage(
  engine: Guard,
  token: string,
  query: object,
): Promise<LogPage | undefined | 'never'> {
  try {
    return await engine.logs(token, query);
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    if (error.kind === 'unavailable') return undefined;
    if (error.kind !== 'not_found') return 'never';
    return isTerminal((await engine.read(token)).status) ? 'never' : undefined;
  }
}
