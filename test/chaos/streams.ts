/** Event stream of one operation, read over connections that end again and again, then whole: both have the same events. */
import { setTimeout as delay } from 'node:timers/promises';
import { OUTCOME_REFUSED } from '../../activities/runtime/context.js';
import { loggedLines, stateEvents, type ReadEvent, type ReadStream } from '../http-jobs/sse.js';
import { CALL_MS } from './limited.js';
import { firstDifference } from './records.js';
import type { Violations } from './violations.js';

/** How long a connection lasts, in milliseconds. */
const CUT_MS = 2_000;
/** Between two connections. */
const AWAY_MS = 1_000;

/** Opens the events of an operation after an event ID; the signal ends the connection. */
export type OpenEvents = (
  handle: string,
  lastEventId: string | undefined,
  signal: AbortSignal,
) => Promise<ReadStream>;

export interface StreamOptions {
  open: OpenEvents;
  handle: string;
  name: string;
  violations: Violations;
  /** As that of the operation. */
  deadline: () => number;
  signal: AbortSignal;
}

/** Reads the stream to its end, over as many connections as necessary, and compares it with what a new reader gets. */
export async function followStream(options: StreamOptions): Promise<void> {
  const read = await readAll(options, CUT_MS);
  const whole = read && (await readAll(options, CALL_MS));
  const { violations, name } = options;
  if (!whole) return violations.add('broken stream', `${name}: it has no result`);
  const ownLines = loggedLines(read)['operation']?.length ?? 0;
  const difference = firstDifference(shown(whole, ownLines), shown(read, ownLines));
  if (difference) violations.add('broken stream', `${name}: ${difference}`);
  const statuses = stateEvents(read).map((event) => (event as { status?: string }).status);
  // A cancel of a queued operation is a second event that says queued.
  const lastQueued = statuses.lastIndexOf('queued');
  if (statuses.slice(0, Math.max(lastQueued, 0)).some((status) => status !== 'queued'))
    violations.add('went back', `${name}: its stream is queued again (${statuses.join(', ')})`);
}

/** @returns undefined if there is no result by the deadline */
async function readAll(options: StreamOptions, connectionMs: number): Promise<ReadEvent[] | undefined> {
  const { open, handle, deadline, signal } = options;
  const events: ReadEvent[] = [];
  while (events.at(-1)?.event !== 'result') {
    if (performance.now() > deadline()) return undefined;
    const lastId = events.findLast(({ id }) => id !== undefined)?.id;
    const ends = AbortSignal.any([AbortSignal.timeout(connectionMs), signal]);
    const stream = await open(handle, lastId, ends).catch(() => undefined);
    await stream?.ended;
    if (stream?.response.status === 200) events.push(...stream.events);
    await delay(AWAY_MS, undefined, { signal });
  }
  return events;
}

/** @param ownLines lines of the operation's own log that had come by the stream's end */
function shown(events: ReadEvent[], ownLines: number): unknown {
  const { operation = [], ...steps } = loggedLines(events);
  // An activity may outlive its operation: its line comes after the end.
  const own = operation.filter(({ text }, at) => at < ownLines || !text.includes(OUTCOME_REFUSED));
  return { states: stateEvents(events), own, steps };
}
