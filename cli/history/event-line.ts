/** An event of a run as lines of text. */
import { oneLine } from '../client/table.js';
import { padTo, truncateTo } from '../client/text-width.js';
import type { DescribedEvent } from './described-event.js';

/** Width of the columns, and of a value, in characters. */
const TIME_WIDTH = 10;
const NAME_WIDTH = 34;
const PAYLOAD_CHARACTERS = 2_000;
const INDENT = ' '.repeat(TIME_WIDTH + 6);

/** `+1m 03.2s    12  ActivityTaskFailed   job build / step Test, attempt 2, took 3.1s`, then a line for each failure and value. */
export function eventLines(event: DescribedEvent): string[] {
  const { id, event: name, sinceStartSeconds, failure = [], payloads = {} } = event;
  const head = `${padTo(`+${duration(sinceStartSeconds)}`, TIME_WIDTH)} ${String(id).padStart(4)} `;
  const line = `${head}${padTo(name, NAME_WIDTH)} ${factsOf(event)}`.trimEnd();
  return [
    oneLine(line),
    ...failure.flatMap((message, at) =>
      message
        .split('\n')
        .map((text, row) => `${INDENT}${at > 0 && row === 0 ? 'caused by: ' : ''}${oneLine(text)}`.trimEnd()),
    ),
    ...Object.entries(payloads).map(
      ([place, value]) =>
        `${INDENT}${place}: ${truncateTo(oneLine(JSON.stringify(value) ?? 'undefined'), PAYLOAD_CHARACTERS)}`,
    ),
  ];
}

function factsOf({
  about,
  attempt,
  durationSeconds,
  queuedSeconds,
  detail,
  identity,
}: DescribedEvent): string {
  return [
    about,
    attempt !== undefined && attempt > 1 ? `attempt ${attempt}` : undefined,
    durationSeconds === undefined ? undefined : `took ${duration(durationSeconds)}`,
    // A worker takes a task within some milliseconds, unless all its slots are in use.
    queuedSeconds !== undefined && queuedSeconds >= 1 ? `waited ${duration(queuedSeconds)}` : undefined,
    detail,
    identity === undefined ? undefined : `by ${identity}`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** `0.25s`, `3m 05.1s`, `2h 05m 00s`. */
function duration(seconds: number): string {
  if (seconds < 60) return `${Number(seconds.toFixed(seconds < 10 ? 2 : 1))}s`;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(Math.floor(seconds % 60)).padStart(2, '0');
  return hours === 0 ? `${minutes}m ${rest}s` : `${hours}h ${String(minutes).padStart(2, '0')}m ${rest}s`;
}
