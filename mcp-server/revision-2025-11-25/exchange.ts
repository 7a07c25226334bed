/** One POST, with an SDK Server and transport of its own. A waiting call's stream has event IDs, so any process can resume it. */
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { POLL_METHOD } from '../two-stage/schemas.js';
import { noteRpcError } from '../metrics/requests.js';
import { EVENT_STREAM_TYPE, JSON_TYPE } from '../http/accept.js';
import { HEARTBEAT_MS } from '../http/event-stream.js';
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
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #server: Server;
  readonly #positions = new Map<RequestId, EventPosition>();
  readonly #open: Set<RequestId>;
  readonly #isStream: boolean;
  /** Whether a request may wait for long while its client accepts no stream. */
  readonly #isWaiting: boolean;
  /** Ends a wait for a JSON response after its requests were cancelled. */
  #endWithoutAnswer: () => void = () => undefined;
  readonly #eventIdWriter: EventIdWriter;
  onclose?: () => void;

  /** @param messages the validated messages of one POST */
  constructor(
    private readonly context: LegacyContext,
    private readonly session: Session,
    private readonly messages: JSONRPCMessage[],
    private readonly options: ExchangeOptions,
  ) {
    const requests = messages.filter((message) => isJSONRPCRequest(message));
    this.#open = new Set(requests.map(({ id }) => id));
    const { json, stream } = options.accepted;
    const mayWait = requests.some(({ method }) => WAITING_METHODS.has(method));
    const mayAsk = session.elicitation && requests.some(({ method }) => ASKING_METHODS.has(method));
    this.#isStream = !json || (stream && (mayWait || mayAsk));
    this.#isWaiting = mayWait && !this.#isStream;
    for (const { id, params } of requests) {
      const progressToken = params?._meta?.progressToken;
      this.#positions.set(id, { session: session.nonce, requestId: id, progressToken });
    }
    const [only, ...others] = requests;
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      // Longhaul seals its own sessions. The SDK would keep them in this process.
      sessionIdGenerator: undefined as never,
      enableJsonResponse: !this.#isStream,
      keepAliveMs: HEARTBEAT_MS,
      retryInterval: RETRY_MS,
      // A stream that answers several requests has no single position.
      ...(only && WAITING_METHODS.has(only.method) && !others.length
        ? { eventStore: this.#eventIds(only.id) }
        : {}),
    });
    this.#server = createLegacyServer(context, session, ({ requestId, signal }) =>
      this.#streamOf(requestId, signal),
    );
    this.#server.onclose = () => this.onclose?.();
    this.#server.onerror = ({ message }) =>
      context.logger.debug({ reason: message }, 'a message was refused');
    this.#eventIdWriter = new EventIdWriter(() => void this.close());
  }

  /** The response ends when all requests are answered or cancelled, or the client disconnects. */
  async respond(request: Request): Promise<Response> {
    await this.#server.connect(this.#transport);
    const send = this.#transport.send.bind(this.#transport);
    this.#transport.send = async (message, options) => {
      // The official client reconnects even after an error response, unless the event ID marks the request as over.
      if (isJSONRPCErrorResponse(message)) {
        noteRpcError();
        this.#endPosition(message.id);
      }
      await send(message, options);
      if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#settle(message.id!);
    };
    const { isBatch } = this.options;
    const parsedBody = isBatch ? this.messages : this.messages[0];
    const answer = this.#transport.handleRequest(acceptingBoth(request), { parsedBody });
    const response = await (this.#isWaiting ? this.#untilGone(request, answer) : answer);
    if (!response.body) return response;
    if (!response.headers.get('content-type')?.includes(EVENT_STREAM_TYPE))
      return isBatch && response.ok ? asArray(response) : response;
    return new Response(this.#eventIdWriter.between(response.body), { headers: response.headers });
  }

  /** Ends the wait for one of this POST's requests without an answer (specs: 2025-11-25 basic/utilities/cancellation). */
  cancel(requestId: RequestId, reason: string | undefined): void {
    if (!this.#open.has(requestId)) return;
    // Clients reconnect to a stream that ended without an answer, unless its last event ID marks the request as over.
    this.#endPosition(requestId);
    this.#mark(requestId);
    this.#transport.onmessage?.({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId, reason },
    });
    this.#settle(requestId);
    if (this.#open.size === 0) this.#endWithoutAnswer();
  }

  /** Ends the wait when the client cancels its requests or disconnects, which a JSON response doesn't notice. */
  #untilGone(request: Request, answer: Promise<Response>): Promise<Response> {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      this.#endWithoutAnswer = () => resolve(new Response(null, { status: 202 }));
      const end = () => {
        this.#endWithoutAnswer();
        void this.close();
      };
      if (signal.aborted) end();
      else signal.addEventListener('abort', end);
      answer.then(resolve, reject);
    });
  }

  /** Ends all waits and the stream. The work continues. */
  async close(): Promise<void> {
    await this.#server.close();
  }

  #endPosition(requestId: RequestId | undefined): void {
    const position = requestId === undefined ? undefined : this.#positions.get(requestId);
    if (position) position.isOver = true;
  }

  #settle(requestId: RequestId): void {
    this.#open.delete(requestId);
    if (this.#open.size === 0) void this.close();
  }

  #eventIds(requestId: RequestId) {
    return {
      storeEvent: async () => this.#positionId(requestId),
      // streams.ts resumes streams from the operation's state, not from stored messages.
      replayEventsAfter: () => Promise.reject(new Error('no events are stored')),
    };
  }

  #positionId(requestId: RequestId): string {
    return this.context.events.seal(this.#positions.get(requestId)!);
  }

  #streamOf(requestId: RequestId, signal: AbortSignal): CallStream {
    return {
      signal,
      position: this.#positions.get(requestId)!,
      send: (message) =>
        this.#transport.send(message, { relatedRequestId: requestId }).catch(() => undefined),
      mark: () => this.#mark(requestId),
    };
  }

  #mark(requestId: RequestId): void {
    if (this.#positions.size === 1 && featuresOf(this.session.version).emptyEvents)
      this.#eventIdWriter.write(`id: ${this.#positionId(requestId)}\ndata: \n\n`);
  }
}

/** Rewrites `Accept` for the SDK, which looks for the literal names of both types. */
function acceptingBoth(request: Request): Request {
  const accept = request.headers.get('accept') ?? '';
  if (accept.includes(JSON_TYPE) && accept.includes(EVENT_STREAM_TYPE)) return request;
  const headers = new Headers(request.headers);
  headers.set('accept', `${JSON_TYPE}, ${EVENT_STREAM_TYPE}`);
  return new Request(request.url, { method: request.method, headers });
}

/** The SDK answers a batch of one request like the request alone. */
async function asArray(response: Response): Promise<Response> {
  const text = await response.text();
  const { status, headers } = response;
  return new Response(text.startsWith('[') ? text : `[${text}]`, { status, headers });
}

/** Inserts events without data, which the SDK can't send, and reports when the client disconnects. */
class EventIdWriter {
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Events held until the stream's first event was written, because that one has an earlier position. */
  #early: string[] = [];
  #hasBegun = false;

  constructor(private readonly onGone: () => void) {}

  between(events: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = events.getReader();
    return new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#controller = controller),
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) {
          this.#controller = undefined;
          controller.close();
          return;
        }
        controller.enqueue(value);
        this.#hasBegun = true;
        for (const event of this.#early.splice(0)) this.write(event);
      },
      cancel: async (reason) => {
        this.#controller = undefined;
        this.onGone();
        await reader.cancel(reason);
      },
    });
  }

  write(event: string): void {
    if (this.#hasBegun) this.#controller?.enqueue(Buffer.from(event));
    else this.#early.push(event);
  }
}
