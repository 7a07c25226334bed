/** One POST, with an SDK Server of its own. A waiting call's stream has event IDs, so any process can resume it. */
import { once } from 'node:events';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import type { Context } from 'hono';
import type { SSEStreamingApi } from 'hono/streaming';
import { eventStream } from '../http/event-stream.js';
import { noteRpcError } from '../metrics/requests.js';
import { POLL_METHOD } from '../two-stage/schemas.js';
import type { LegacyContext, CallStream, EventPosition } from './context.js';
import { createLegacyServer } from './server.js';
import { featuresOf, type Session } from './session.js';

/**
 * Reconnection time sent to clients (SSE's `retry`), in milliseconds. Both official SDKs try only twice, so the second attempt,
 * after twice this time, has to find a restarted server. A supervised one is back within 2 s (bench/restart.ts), or within 8 s on a
 * machine that is four times as slow.
 */
export const RETRY_MS = 4_000;

/** Methods that may wait. They get a resumable stream, while most others get one JSON object. */
const WAITING_METHODS: ReadonlySet<string> = new Set(['tools/call', 'tasks/result']);
/** Methods that are answered at once, but may send questions first. */
const ASKING_METHODS: ReadonlySet<string> = new Set(['tools/async/status', POLL_METHOD]);

/** Media types that the client accepts. At least one if there is a request. */
export interface AcceptedTypes {
  json: boolean;
  stream: boolean;
}

export interface ExchangeOptions {
  /** Whether the POST has a batch. Its answer is an array, even for one request. */
  isBatch: boolean;
  accepted: AcceptedTypes;
}

export class Exchange {
  readonly #server: Server;
  readonly #transport: Transport;
  readonly #positions = new Map<RequestId, EventPosition>();
  readonly #open: Set<RequestId>;
  readonly #answers = new Map<RequestId, JSONRPCMessage>();
  readonly #ended = new AbortController();
  readonly #mayWait: boolean;
  readonly #isStream: boolean;
  /** Position of a stream that any process can resume. A stream that answers several requests has no single position. */
  readonly #resumable: EventPosition | undefined;
  #sse: SSEStreamingApi | undefined;
  onclose?: () => unknown;

  /** @param messages the validated messages of one POST */
  constructor(
    private readonly context: LegacyContext,
    private readonly session: Session,
    private readonly messages: JSONRPCMessage[],
    private readonly options: ExchangeOptions,
  ) {
    const requests = messages.filter((message) => isJSONRPCRequest(message));
    this.#open = new Set(requests.map(({ id }) => id));
    for (const { id, params } of requests) {
      const progressToken = params?._meta?.progressToken;
      this.#positions.set(id, { session: session.nonce, requestId: id, progressToken });
    }
    const { json, stream } = options.accepted;
    this.#mayWait = requests.some(({ method }) => WAITING_METHODS.has(method));
    const mayAsk = session.elicitation && requests.some(({ method }) => ASKING_METHODS.has(method));
    this.#isStream = !json || (stream && (this.#mayWait || mayAsk));
    this.#resumable =
      this.#mayWait && requests.length === 1 ? this.#positions.get(requests[0]!.id) : undefined;
    this.#server = createLegacyServer(context, session, ({ requestId, signal }) =>
      this.#streamOf(requestId, signal),
    );
    this.#server.onclose = () => this.onclose?.();
    this.#server.onerror = ({ message }) =>
      context.logger.debug({ reason: message }, 'a message was refused');
    this.#transport = {
      start: async () => undefined,
      send: (message) => this.#answer(message),
      close: async () => {
        this.#ended.abort();
        this.#transport.onclose?.();
      },
    };
  }

  /** The response ends when all requests are answered or cancelled, or the client disconnects. */
  async respond(c: Context): Promise<Response> {
    await this.#server.connect(this.#transport);
    if (this.#open.size > 0 && this.#isStream)
      return eventStream(c, async (sse, disconnected) => {
        this.#sse = sse;
        this.#closeOn(disconnected);
        if (this.#resumable) this.#streamOf(this.#resumable.requestId).mark();
        await this.#dispatch();
      });
    // The SDK doesn't notice when the client of a JSON response disconnects.
    if (this.#mayWait) this.#closeOn(c.req.raw.signal);
    await this.#dispatch();
    const answers = [...this.#positions.keys()].flatMap((id) => this.#answers.get(id) ?? []);
    if (answers.length === 0) return c.body(null, 202);
    return c.json(this.options.isBatch ? answers : answers[0]);
  }

  /** Ends the wait for one of this POST's requests without an answer (specs: 2025-11-25 basic/utilities/cancellation). */
  cancel({ nonce }: Session, requestId: RequestId, reason: string | undefined): void {
    if (nonce !== this.session.nonce || !this.#open.has(requestId)) return;
    // Clients reconnect to a stream that ended without an answer, unless its last event ID marks the request as over.
    this.#positions.get(requestId)!.isOver = true;
    this.#streamOf(requestId).mark();
    const params = { requestId, reason };
    this.#transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    this.#settle(requestId);
  }

  /** Ends all waits and the stream. The work continues. */
  async close(): Promise<void> {
    await this.#server.close();
  }

  #closeOn(signal: AbortSignal): void {
    if (signal.aborted) void this.close();
    else signal.addEventListener('abort', () => void this.close());
  }

  /** Resolves once all requests are answered or cancelled, or the client has disconnected. */
  async #dispatch(): Promise<void> {
    for (const message of this.messages) this.#transport.onmessage?.(message);
    if (this.#open.size === 0) await this.close();
    if (!this.#ended.signal.aborted) await once(this.#ended.signal, 'abort');
  }

  async #answer(message: JSONRPCMessage): Promise<void> {
    const { id } = message as { id: RequestId };
    if (isJSONRPCErrorResponse(message)) {
      noteRpcError();
      // The official client reconnects even after an error response, unless the event ID marks the request as over.
      this.#positions.get(id)!.isOver = true;
    }
    this.#answers.set(id, message);
    await this.#streamOf(id).send(message);
    this.#settle(id);
  }

  #settle(requestId: RequestId): void {
    this.#open.delete(requestId);
    if (this.#open.size === 0) void this.close();
  }

  #streamOf(requestId: RequestId, signal = this.#ended.signal): CallStream {
    const position = this.#positions.get(requestId)!;
    if (this.#sse && this.#resumable)
      return resumableStream(this.context, this.session, this.#sse, this.#resumable, signal);
    const send = async (message: JSONRPCMessage) => void (await this.#sse?.write(eventOf(message)));
    return { signal, position, send, mark: () => undefined };
  }
}

/** A message as an event. Unlike Hono's `writeSSE`, a write of it can't be overtaken by a later one. */
function eventOf(message: JSONRPCMessage, id?: string): string {
  return `event: message\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;
}

/** A call's stream with event IDs, by which any process can resume it. */
export function resumableStream(
  { events }: LegacyContext,
  { version }: Session,
  sse: SSEStreamingApi,
  position: EventPosition,
  signal: AbortSignal,
): CallStream {
  return {
    signal,
    position,
    send: async (message) => void (await sse.write(eventOf(message, events.seal(position)))),
    mark: () => {
      if (featuresOf(version).emptyEvents)
        void sse.write(`id: ${events.seal(position)}\nretry: ${RETRY_MS}\ndata: \n\n`);
    },
  };
}
