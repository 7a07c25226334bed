/** Channels by which a client is notified of an operation: one for each protocol, and Temporal's own client. */
import proto from '@temporalio/proto';
import type { Client } from '@temporalio/client';
import { LegacyClient } from '../../test/revision-2025-11-25/wire.js';
import type { Stack } from '../support.js';

const { EventType } = proto.temporal.api.enums.v1;
/** Deadline of Temporal's long polls, in milliseconds. */
const POLL_DEADLINE_MS = 70_000;

/** Called with each piece of text that a client receives. */
export type OnText = (text: string) => void;

export interface Channel {
  name: string;
  /** Notified of changes, of ends, or of both. */
  notifies: ('change' | 'end')[];
  /** Starts a ticker and follows it. @returns its workflow ID */
  start(): Promise<string>;
  /** Part of the text that reports an end with this result. Default: the result. */
  endMark?: (token: string, result: string) => string[];
  close(): Promise<void>;
}

/** Reads lines of a stream of events until it ends. */
async function readData(response: Response, onText: OnText): Promise<void> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data: ')) onText(line);
  }
}

/** Streams that are closed together. */
class Streams {
  readonly #end = new AbortController();
  readonly signal = this.#end.signal;

  /** @throws Error if the response is no stream of events */
  add(response: Response, onText: OnText): void {
    if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
      throw new Error(`no stream: ${response.status}`);
    readData(response, onText).catch((error: unknown) => {
      if (!this.signal.aborted) console.error(error);
    });
  }

  async close(): Promise<void> {
    this.#end.abort();
  }
}

/** subscriptions/listen of 2026-07-28: a stream for each task. */
export function subscription({ client }: Stack, onText: OnText): Channel {
  const streams = new Streams();
  return {
    name: 'tasks of 2026-07-28, subscriptions/listen',
    notifies: ['change', 'end'],
    async start() {
      const taskId = await client.start('ticker');
      const method = 'subscriptions/listen';
      const body = JSON.stringify(client.envelope(method, { notifications: { taskIds: [taskId] } }));
      streams.add(await client.post(body, client.headers(method), streams.signal), onText);
      return taskId;
    },
    close: () => streams.close(),
  };
}

/** A session of 2025-11-25 with its own stream. */
async function session(
  { home }: Stack,
  onText: OnText,
  capabilities: object,
  start: (client: LegacyClient) => Promise<string>,
): Promise<Pick<Channel, 'start' | 'close'>> {
  const streams = new Streams();
  const client = await LegacyClient.open(`${home.url}/mcp`, '2025-11-25', capabilities);
  const headers = { ...client.headers(), accept: 'text/event-stream' };
  streams.add(await fetch(client.url, { headers, signal: streams.signal }), onText);
  return { start: () => start(client), close: () => streams.close() };
}

/** notifications/tasks/status of 2025-11-25. */
export async function olderTasks(stack: Stack, onText: OnText): Promise<Channel> {
  return {
    name: 'tasks of 2025-11-25, notifications/tasks/status',
    notifies: ['change', 'end'],
    ...(await session(
      stack,
      onText,
      {},
      async (client) => ((await client.task('ticker')) as { taskId: string }).taskId,
    )),
    endMark: (token) => [token, '"completed"'],
  };
}

/** notifications/progress of SEP-1391; an end isn't notified. */
export async function operationTokens(stack: Stack, onText: OnText): Promise<Channel> {
  let calls = 0;
  return {
    name: 'SEP-1391, notifications/progress',
    notifies: ['change'],
    ...(await session(stack, onText, { experimental: { asyncTools: {} } }, async (client) => {
      const answer: unknown = await client.call(
        'ticker',
        {},
        { _meta: { progressToken: `call-${calls++}` } },
      );
      return (answer as { result: { operation: { token: string } } }).result.operation.token;
    })),
  };
}

/** notifications/progress and notifications/tool_result of two-stage returns. */
export async function twoStage(stack: Stack, onText: OnText): Promise<Channel> {
  return {
    name: 'two-stage returns, notifications',
    notifies: ['change', 'end'],
    ...(await session(stack, onText, { experimental: { twoStage: {} } }, async (client) => {
      const answer: unknown = await client.call('ticker');
      return (answer as { result: { job_id: string } }).result.job_id;
    })),
  };
}

/** Events of the HTTP jobs. */
export function jobEvents({ client, home }: Stack, onText: OnText): Channel {
  const streams = new Streams();
  return {
    name: 'HTTP jobs, events',
    notifies: ['change', 'end'],
    async start() {
      const token = await client.start('ticker');
      const url = `${home.url}/v1/jobs/${token}/events`;
      streams.add(await fetch(url, { signal: streams.signal }), onText);
      return token;
    },
    close: () => streams.close(),
  };
}

/** A call of operation_get that waits for the end. */
export function plainWait({ client }: Stack, onText: OnText): Channel {
  const plain = client.with({});
  let isClosed = false;
  const wait = async (token: string): Promise<void> => {
    const answer = await plain.request('tools/call', {
      name: 'operation_get',
      arguments: { token, wait: true },
    });
    const text = JSON.stringify(answer.result);
    onText(text);
    if (!isClosed && !/"status":"completed"/.test(text)) await wait(token);
  };
  return {
    name: 'plain contract, waiting operation_get',
    notifies: ['end'],
    async start() {
      const token = await client.start('ticker');
      wait(token).catch((error: unknown) => {
        if (!isClosed) console.error(error);
      });
      return token;
    },
    close: async () => void (isClosed = true),
  };
}

/** Temporal's own client: a long poll of the history for changes, and the result. */
export function temporalClient(temporal: Client, { client }: Stack, onText: OnText): Channel {
  let isClosed = false;
  const follow = async (workflowId: string): Promise<void> => {
    let nextPageToken: Uint8Array | undefined;
    do {
      const { history, nextPageToken: next } = await temporal.connection.withDeadline(
        Date.now() + POLL_DEADLINE_MS,
        () =>
          temporal.workflowService.getWorkflowExecutionHistory({
            namespace: 'default',
            execution: { workflowId },
            waitNewEvent: true,
            ...(nextPageToken ? { nextPageToken } : {}),
          }),
      );
      nextPageToken = next?.length ? next : undefined;
      for (const event of history?.events ?? [])
        if (event.eventType === EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED) onText(textOf(event));
    } while (nextPageToken && !isClosed);
  };
  const handled = (promise: Promise<unknown>) =>
    promise.catch((error: unknown) => {
      if (!isClosed) console.error(error);
    });
  return {
    name: "Temporal's own client",
    notifies: ['change', 'end'],
    async start() {
      const token = await client.start('ticker');
      void handled(follow(token));
      void handled(
        temporal.workflow
          .getHandle(token)
          .result()
          .then((result) => onText(JSON.stringify(result))),
      );
      return token;
    },
    close: async () => void (isClosed = true),
  };
}

/** Text of all payloads of an event. */
export function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(textOf).join(' ');
}
