/** Streamable HTTP of 2026-07-28: handles polls of tasks and subscriptions, and leaves the rest to the SDK's handler. */
import {
  classifyInboundRequest,
  createMcpHandler,
  isJsonContentType,
  isJSONRPCNotification,
  isJSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type JSONRPCNotification,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import type { Context } from 'hono';
import type { Guard } from '../guard.js';
import type { Shutdown } from '../shutdown/index.js';
import { nameRpcRequest } from '../metrics/requests.js';
import { BODY_LIMIT_BYTES, parseError, rpcError, unsupportedMediaType } from '../rpc-refusals.js';
import { Cancellations } from '../sep-1391/cancellations.js';
import { eventStream, cutOff, HEARTBEAT, HEARTBEAT_MS } from '../http/event-stream.js';
import type { Serving } from '../call/serving.js';
import { createCurrentServer } from './server.js';
import { Subscriptions } from './subscriptions.js';
import { withTaskName, answerPoll, pollIn } from './tasks/poll.js';
import { withTimeout } from '../../platform/with-timeout.js';
import { EVENT_STREAM_TYPE, isNamed } from '../http/accept.js';

export const VERSION = '2026-07-28';
const LISTEN = 'subscriptions/listen';
/** JSON-RPC code for a header that is missing or doesn't match the body (specs: 2026-07-28 streamable-http). */
const HEADER_MISMATCH = -32020;

export class CurrentHttp {
  readonly #subscriptions: Subscriptions;
  readonly #cancellations: Cancellations;
  readonly #handler: ReturnType<typeof createMcpHandler>;

  /** @param secret seals the state that clients carry */
  constructor(
    private readonly serving: Serving,
    secret: Buffer,
    private readonly shutdown: Shutdown,
  ) {
    const { logger } = serving;
    this.#subscriptions = new Subscriptions(serving);
    this.#cancellations = new Cancellations(logger);
    this.#handler = createMcpHandler(
      ({ authInfo }) => createCurrentServer(authInfo!.extra!['guard'] as Guard, serving, secret, shutdown),
      {
        legacy: 'reject',
        maxRequestBodySize: BODY_LIMIT_BYTES,
        keepAliveMs: HEARTBEAT_MS,
        onerror: (error) => logger.debug({ reason: error.message }, 'a request was refused'),
      },
    );
  }

  /** Answers a poll of a task. Undefined for other requests. @param body the parsed JSON. Undefined if it isn't JSON */
  async poll(c: Context, guard: Guard, body: unknown): Promise<Response | undefined> {
    const poll = pollIn(c.req.raw.headers, body);
    if (!poll) return undefined;
    nameRpcRequest(VERSION, body);
    const { httpStatus, message } = await answerPoll(guard, this.serving, this.shutdown, poll);
    return c.json(message, httpStatus);
  }

  /** @param body as in {@link poll} */
  async post(c: Context, guard: Guard, body: unknown): Promise<Response> {
    // The SDK's subscription router doesn't support task IDs.
    if (c.req.header('mcp-method') === LISTEN) return this.#listen(c, guard, body);
    if (body === undefined && isJsonContentType(c.req.header('content-type') ?? null)) return parseError(c);
    if (isCancellation(body)) await this.#cancellations.take(guard, undefined, body.params);
    return streamWhenSlow(
      c,
      this.#handler.fetch(withTaskName(c.req.raw, body), {
        // The credential itself goes no further.
        authInfo: { token: '', clientId: '', scopes: [], extra: { guard } },
        parsedBody: body,
      }),
    );
  }

  endStreams(): void {
    this.#subscriptions.close();
  }

  close(): Promise<void> {
    return this.#handler.close();
  }

  async #listen(c: Context, guard: Guard, body: unknown): Promise<Response> {
    if (!isJsonContentType(c.req.header('content-type') ?? null))
      return unsupportedMediaType(c, 'Content-Type must be application/json');
    const request = listenRequest(c, body);
    if (request instanceof Response) return request;
    let serve;
    try {
      serve = await this.#subscriptions.open(request, guard);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      // Status 400 as for the SDK's own errors before dispatch (specs: 2026-07-28 streamable-http).
      const isEarly =
        error.code === ProtocolErrorCode.MissingRequiredClientCapability ||
        error.code === ProtocolErrorCode.UnsupportedProtocolVersion;
      return c.json(rpcError(request.id, error.code, error.message, error.data), isEarly ? 400 : 200);
    }
    return eventStream(c, (stream, signal) =>
      serve({
        send: (message) => stream.writeSSE({ event: 'message', data: JSON.stringify(message) }),
        signal,
      }),
    );
  }
}

/** Whether the headers name this revision, or a method that only it has. Even an invalid request then gets this revision's answer. */
export function isNamedCurrent(c: Context): boolean {
  return c.req.header('mcp-protocol-version') === VERSION || c.req.header('mcp-method') === LISTEN;
}

/** Compares the method first: most messages aren't notifications, and failed validation is expensive. */
function isCancellation(body: unknown): body is JSONRPCNotification {
  const { method } = (body ?? {}) as { method?: unknown };
  return method === 'notifications/cancelled' && isJSONRPCNotification(body);
}

/** Validates a request like the SDK's handler, in the same order. @param body undefined if it isn't JSON in UTF-8 */
function listenRequest(c: Context, body: unknown): JSONRPCRequest | Response {
  if (body === undefined) return parseError(c);
  const id = isJSONRPCRequest(body) ? body.id : null;
  const protocolVersionHeader = c.req.header('mcp-protocol-version');
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    body,
    mcpMethodHeader: c.req.header('mcp-method'),
    protocolVersionHeader,
  });
  if (outcome.kind === 'reject')
    return c.json(rpcError(id, outcome.code, outcome.message, outcome.data), outcome.httpStatus as 400);
  if (protocolVersionHeader === undefined || outcome.kind !== 'modern' || !isJSONRPCRequest(body)) {
    const message =
      'Header mismatch: subscriptions/listen needs MCP-Protocol-Version and the per-request _meta envelope of 2026-07-28';
    return c.json(rpcError(id, HEADER_MISMATCH, message), 400);
  }
  return body;
}

/**
 * Answers at once if ready before the first heartbeat, else by a stream of comments, if the request accepts `text/event-stream`. HTTP
 * clients and proxies close idle connections, and the SDK opens a stream only with the first message, which a wait without progress
 * doesn't send.
 */
async function streamWhenSlow(c: Context, answer: Promise<Response>): Promise<Response> {
  if (!isNamed(c.req.header('accept'), EVENT_STREAM_TYPE)) return answer;
  const inTime = await withTimeout(answer, HEARTBEAT_MS);
  if (inTime) return inTime;
  return eventStream(c, async (stream) => {
    await stream.write(HEARTBEAT);
    try {
      const response = await answer;
      const isStream = response.headers.get('content-type')?.includes(EVENT_STREAM_TYPE);
      if (isStream && response.body) await stream.pipe(response.body);
      else await stream.writeSSE({ event: 'message', data: await response.text() });
    } catch {
      // The client has disconnected, or the exchange was closed without a response.
      cutOff(c);
    }
  });
}
