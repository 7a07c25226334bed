/** Reads a job's events as an ordinary SSE client, with Last-Event-ID on reconnection. */
export interface ReadEvent {
  id?: string;
  event: string;
  data: any;
}

export interface ReadStream {
  response: Response;
  events: ReadEvent[];
  comments: string[];
  /** Resolves when the stream has ended or was cut off: whether it ended in good order. */
  ended: Promise<boolean>;
  lastId(): string | undefined;
  close(): void;
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
  const comments: string[] = [];
  const read = async () => {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      // Incomplete events are discarded (WHATWG HTML, 9.2.6).
      rest = blocks.pop() ?? '';
      for (const block of blocks) take(block, events, comments);
    }
  };
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  return {
    response,
    events,
    comments,
    ended: isStream
      ? read().then(
          () => true,
          () => false,
        )
      : Promise.resolve(true),
    lastId: () => events.findLast(({ id }) => id !== undefined)?.id,
    close: () => end.abort(),
  };
}

function take(block: string, events: ReadEvent[], comments: string[]): void {
  const read: Partial<ReadEvent> = {};
  for (const line of block.split('\n')) {
    if (line.startsWith(': ')) comments.push(line.slice(2));
    else if (line.startsWith('id: ')) read.id = line.slice(4);
    else if (line.startsWith('event: ')) read.event = line.slice(7);
    else if (line.startsWith('data: ')) read.data = JSON.parse(line.slice(6));
  }
  if (read.event !== undefined) events.push(read as ReadEvent);
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
