/** Streamable HTTP: sessions, POST, the session's own stream, resumed streams (specs: 2025-11-25 basic/transports). */
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  SUPPORTED_PROTOCOL_VERSIONS,
  type JSONRPCMessage,
} from '@modelcontextprotocol/sdk/types.js';
import { isJsonContentType, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Context } from 'hono';
import { LonghaulError } from '../../operations/errors.js';
import { EVENT_STREAM_TYPE, isAcceptable, isNamed, JSON_TYPE } from '../http/accept.js';
import type { Guard } from '../guard.js';
import type { LegacyContext, SharedContext } from './context.js';
import { Exchange, type AcceptedTypes } from './exchange.js';
import { prepareMessage, parseMessages } from './messages.js';
import { takeResponse } from './questions.js';
import {
  featuresOf,
  hasKeptOperations,
  newSession,
  parseInitialize,
  scopeOf,
  type Session,
} from './session.js';
import { OpenStreams } from './streams.js';

export const SESSION_HEADER = 'mcp-session-id';
/** The SDK's JSON-RPC codes for requests refused with an HTTP status. */
const BAD_REQUEST = -32000;
const SESSION_NOT_FOUND = -32001;

/** Refuses a request with an HTTP status, before JSON-RPC dispatch. */
class Refusal extends Error {
  constructor(
    readonly httpStatus: 400 | 404 | 405 | 406 | 415 | 503,
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

export class LegacyHttp {
  readonly #exchanges = new Set<Exchange>();
  readonly #streams = new OpenStreams();

  constructor(private readonly shared: SharedContext) {}

  /** @param body the parsed JSON. Undefined if it isn't JSON */
  async post(c: Context, engine: Guard, body: unknown): Promise<Response> {
    try {
      return await this.#post(c, { ...this.shared, engine }, body);
    } catch (error) {
      return render(error);
    }
  }

  /** Answers a GET with the session's own stream, or with Last-Event-ID a resumed one. */
  async get(c: Context, engine: Guard): Promise<Response> {
    const context = { ...this.shared, engine };
    try {
      const session = await this.#sessionOf(c, context);
      assertVersion(c);
      if (!isAcceptable(c.req.header('accept'), EVENT_STREAM_TYPE))
        throw new Refusal(406, BAD_REQUEST, 'Not Acceptable: Client must accept text/event-stream');
      if (c.req.method === 'HEAD') return c.body(null, 200, { 'Content-Type': EVENT_STREAM_TYPE });
      const lastEventId = c.req.header('last-event-id');
      if (lastEventId === undefined) return this.#streams.listen(c, context, session);
      const own = context.sessionEvents.open(lastEventId);
      if (own?.session === session.nonce) return this.#streams.listen(c, context, session, own);
      const position = context.events.open(lastEventId);
      if (position?.session !== session.nonce)
        throw new Refusal(400, BAD_REQUEST, 'Bad Request: Last-Event-ID does not belong to this session');
      // 405 means no stream (specs: 2025-11-25 basic/transports, "Listening for Messages from the Server"). 204 ends an EventSource
      // for good, but makes Claude Code request the session's own stream again and again.
      if (position.isOver)
        throw new Refusal(405, BAD_REQUEST, 'Method Not Allowed: the request was cancelled or answered');
      return this.#streams.resume(c, context, session, position);
    } catch (error) {
      return render(error);
    }
  }

  /** Ends the streams opened by GET. The work continues, and clients can reconnect to another process. */
  endStreams(): void {
    this.#streams.close();
  }

  async close(): Promise<void> {
    this.endStreams();
    await Promise.all([...this.#exchanges].map((exchange) => exchange.close()));
  }

  async #post(c: Context, context: LegacyContext, body: unknown): Promise<Response> {
    if (!isJsonContentType(c.req.header('content-type') ?? null))
      throw new Refusal(415, BAD_REQUEST, 'Unsupported Media Type: Content-Type must be application/json');
    const messages = messagesOf(body);
    const initialize = initializeOf(messages);
    const session = initialize
      ? await newSession(context.engine, initialize)
      : await this.#sessionOf(c, context);
    if (!initialize) assertVersion(c);
    if (Array.isArray(body) && !featuresOf(session.version).batches)
      throw new Refusal(
        400,
        ProtocolErrorCode.InvalidRequest,
        `Invalid Request: ${session.version} has no batches`,
      );
    const accepted = acceptedBy(c);
    if (!accepted.json && !accepted.stream && messages.some((message) => isJSONRPCRequest(message)))
      throw new Refusal(
        406,
        BAD_REQUEST,
        'Not Acceptable: Client must accept application/json or text/event-stream',
      );
    const rest = await this.#take(context, session, messages);
    if (rest.length === 0) return c.body(null, 202);
    const exchange = new Exchange(
      context,
      // A JSON response has no place for a question before it.
      accepted.stream ? session : { ...session, elicitation: false },
      rest.map((message) => prepareMessage(session, message)),
      { isBatch: Array.isArray(body), accepted },
    );
    this.#exchanges.add(exchange);
    exchange.onclose = () => this.#exchanges.delete(exchange);
    const response = await exchange.respond(c);
    if (initialize && response.ok) response.headers.set(SESSION_HEADER, context.sessions.seal(session));
    return response;
  }

  async #sessionOf(c: Context, context: LegacyContext): Promise<Session> {
    const id = c.req.header(SESSION_HEADER);
    if (!id) throw new Refusal(400, BAD_REQUEST, 'Bad Request: Mcp-Session-Id header is required');
    const session = context.sessions.open(id) ?? (await openExpired(context, id));
    if (session?.principal !== context.engine.principal)
      throw new Refusal(404, SESSION_NOT_FOUND, 'Session not found');
    return session;
  }

  /** Handles what the Server of one POST can't, answers to questions and cancellations of other POSTs, and returns the rest. */
  async #take(
    context: LegacyContext,
    session: Session,
    messages: JSONRPCMessage[],
  ): Promise<JSONRPCMessage[]> {
    const rest: JSONRPCMessage[] = [];
    for (const message of messages) {
      if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
        const isOurs = await takeResponse(context, session, message);
        if (!isOurs && messages.length === 1)
          throw new Refusal(
            400,
            BAD_REQUEST,
            'Bad Request: the response does not answer a request of this session',
          );
      } else if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
        const { requestId, reason } = (message.params ?? {}) as {
          requestId?: string | number;
          reason?: string;
        };
        if (requestId !== undefined) {
          for (const exchange of this.#exchanges) exchange.cancel(session, requestId, reason);
          this.#streams.cancel(session, requestId);
        }
        if (session.asyncTools)
          await context.cancellations.take(context.engine, scopeOf(session, 'operations'), message.params);
      } else rest.push(message);
    }
    return rest;
  }
}

/**
 * The client's accepted media types. It should name both (specs: 2025-11-25 basic/transports, "Sending Messages to the Server"),
 * but many clients send a wildcard or no header, and parse only JSON. These get no stream.
 */
function acceptedBy(c: Context): AcceptedTypes {
  const header = c.req.header('accept');
  const json = isAcceptable(header, JSON_TYPE);
  const stream = json ? isNamed(header, EVENT_STREAM_TYPE) : isAcceptable(header, EVENT_STREAM_TYPE);
  return { json, stream };
}

/** Opens an expired session while operations that it started are still kept. */
async function openExpired({ sessions, engine }: LegacyContext, id: string): Promise<Session | undefined> {
  const session = sessions.open(id, 0);
  if (session?.principal !== engine.principal) return undefined;
  return (await hasKeptOperations(engine, session)) ? session : undefined;
}

function messagesOf(body: unknown): JSONRPCMessage[] {
  if (body === undefined) throw new Refusal(400, ProtocolErrorCode.ParseError, 'Parse error: Invalid JSON');
  const messages = parseMessages(body);
  if (messages) return messages;
  throw new Refusal(400, ProtocolErrorCode.InvalidRequest, 'Invalid Request: not a JSON-RPC message');
}

function initializeOf(messages: JSONRPCMessage[]) {
  const initialize = messages.find((message) => 'method' in message && message.method === 'initialize');
  if (!initialize) return undefined;
  if (messages.length > 1)
    throw new Refusal(400, ProtocolErrorCode.InvalidRequest, 'Invalid Request: initialize must come alone');
  return parseInitialize(initialize);
}

/** @throws Refusal for an unsupported version (specs: 2025-11-25 basic/transports, "Protocol Version Header") */
function assertVersion(c: Context): void {
  const version = c.req.header('mcp-protocol-version');
  if (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return;
  const known = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
  throw new Refusal(
    400,
    BAD_REQUEST,
    `Bad Request: Unsupported protocol version ${version} (supported: ${known})`,
  );
}

function asRefusal(error: unknown): unknown {
  if (error instanceof ProtocolError) return new Refusal(400, error.code, error.message);
  if (!(error instanceof LonghaulError)) return error;
  if (error.kind === 'unavailable') return new Refusal(503, ProtocolErrorCode.InternalError, error.message);
  return error.kind === 'invalid_answer'
    ? new Refusal(400, ProtocolErrorCode.InvalidParams, error.message)
    : error;
}

function render(error: unknown): Response {
  const refusal = asRefusal(error);
  if (!(refusal instanceof Refusal)) throw refusal;
  const { httpStatus, code, message } = refusal;
  const headers: Record<string, string> = httpStatus === 405 ? { Allow: 'GET, HEAD, POST' } : {};
  return Response.json(
    { jsonrpc: '2.0', id: null, error: { code, message } },
    { status: httpStatus, headers },
  );
}
