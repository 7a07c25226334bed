/** Server-sent events as a client gets them, of every protocol. */

export interface SseEvent {
  id?: string;
  event?: string;
  retry?: string;
  /** Parsed JSON. */
  data?: any;
}

export interface SseStream {
  response: Response;
  /** All events so far, including those without data. */
  events: SseEvent[];
  comments: string[];
  close: () => void;
  /** Resolves when the stream has ended or was cut off: whether it ended in good order. */
  ended: Promise<boolean>;
}

/** Parses complete events. */
export function parseEvents(text: string, comments: string[] = []): SseEvent[] {
  return text.split('\n\n').flatMap((block) => {
    const event: SseEvent = {};
    for (const line of block.split('\n')) {
      const [, field, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line)!;
      if (line.startsWith(':')) comments.push(value);
      else if (field === 'data') event.data = JSON.parse(value || 'null') ?? undefined;
      else if (field === 'id' || field === 'event' || field === 'retry') event[field] = value;
    }
    return Object.keys(event).length > 0 ? [event] : [];
  });
}

/** Reads a response as its events come; of another type, it is left unread. @param gone ends the connection @param take called with each event */
export function readEvents(
  response: Response,
  gone: AbortController,
  take: (event: SseEvent) => void = () => undefined,
): SseStream {
  const events: SseEvent[] = [];
  const comments: string[] = [];
  const read = async () => {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      // Incomplete events are discarded (WHATWG HTML, 9.2.6).
      rest = blocks.pop() ?? '';
      for (const event of blocks.flatMap((block) => parseEvents(block, comments))) {
        events.push(event);
        take(event);
      }
    }
  };
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const ended = isStream
    ? read().then(
        () => true,
        () => false,
      )
    : Promise.resolve(true);
  return { response, events, comments, close: () => gone.abort(), ended };
}
