/** Reads a job's events as an ordinary SSE client, with Last-Event-ID on reconnection. */
import { readEvents, type SseEvent, type SseStream } from '../support/sse.js';

export type ReadEvent = SseEvent & { event: string };

export interface ReadStream extends SseStream {
  events: ReadEvent[];
  lastId(): string | undefined;
}

/** Opens the events of a job. @param ends aborted to end the connection */
export async function openEvents(
  base: string,
  jobId: string,
  lastEventId?: string,
  ends?: AbortSignal,
): Promise<ReadStream> {
  const end = new AbortController();
  const response = await fetch(`${base}/v1/jobs/${jobId}/events`, {
    headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
    signal: ends ? AbortSignal.any([end.signal, ends]) : end.signal,
  });
  const events: ReadEvent[] = [];
  const stream = readEvents(response, end, (event) => {
    if (event.event !== undefined) events.push(event as ReadEvent);
  });
  const lastId = () => events.findLast(({ id }) => id !== undefined)?.id;
  return { ...stream, events, lastId };
}

/** All events of a job that has ended, read at once. */
export async function allEvents(base: string, jobId: string): Promise<ReadEvent[]> {
  const stream = await openEvents(base, jobId);
  await stream.ended;
  return stream.events;
}

/** Status events, without fields that differ between reads. */
export function stateEvents(events: ReadEvent[]): object[] {
  return events
    .filter(({ event }) => event === 'status' || event === 'input_required')
    .map(({ event, data }) => ({ event, ...data }));
}

/** Lines of each step's log, in order of arrival. */
export function loggedLines(events: ReadEvent[]): Record<string, { number: number; text: string }[]> {
  const lines: Record<string, { number: number; text: string }[]> = {};
  for (const { event, data } of events) if (event === 'log') (lines[data.step] ??= []).push(...data.lines);
  return lines;
}
