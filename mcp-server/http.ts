/** HTTP application: the MCP endpoint, the HTTP jobs API, health and readiness, behind host and origin checks. */
import {
  createMcpHandler,
  classifyInboundRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJsonContentType,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  type JSONRPCNotification,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { Engine } from '../engine/index.js';
import type { Settings } from '../platform/config.js';
import { behindProxies, clientOf } from '../platform/http/client-address.js';
import { Origins } from '../platform/http/origins.js';
import type { Logger } from '../platform/log.js';
import { loadSecret } from '../platform/secret.js';
import type { Audit } from './audit/index.js';
import { originOf } from './audit/origin.js';
import { Guard, policyOf } from './guard.js';
import { authenticated, callerOf } from './auth/middleware.js';
import { Authentication, AuthenticationUnavailable } from './auth/index.js';
import { bodyLimit } from './lifecycle/body-limit.js';
import { withoutContentCoding } from './lifecycle/content-coding.js';
import { RETRY_AFTER_SECONDS, Shutdown, refusedByShutdown } from './lifecycle/shutdown.js';
import { createCurrentServer } from './revision-2026-07-28/server.js';
import { streamWhenSlow } from './revision-2026-07-28/slow-answers.js';
import { answerPoll, pollIn } from './revision-2026-07-28/tasks/poll.js';
import { openTraced, Subscriptions } from './revision-2026-07-28/subscriptions.js';
import { withTaskName } from './revision-2026-07-28/task-name-header.js';
import { asRpcError, JsonRefusal, parseJson } from './shared/json.js';
import { batchProblem, idIn, memberProblem } from './shared/message-problem.js';
import {
  authenticationProblem,
  createJobsApp,
  isJobsPath,
  Problem,
  renderProblem,
} from './http-jobs/index.js';
import { Cancellations } from './sep-1391/index.js';
import { HEARTBEAT_MS, onHeartbeat } from './lifecycle/heartbeat.js';
import { Limits, RateLimited } from './limits/index.js';
import { limited } from './limits/middleware.js';
import { requestContext } from './lifecycle/request-context.js';
import { securityHeaders } from './lifecycle/security-headers.js';
import { createSharedContext } from './revision-2025-11-25/context.js';
import { LegacyHttp, SESSION_HEADER } from './revision-2025-11-25/http.js';
import { MAX_BATCH } from './revision-2025-11-25/messages.js';
import type { Mounted } from './mount.js';
import { measureRequests, nameRpcRequest, noteRpcError } from './metrics/requests.js';
import { registerHealth } from './lifecycle/health.js';
import type { ServerReadiness } from './lifecycle/readiness.js';
import { sessionScopes } from './revision-2025-11-25/session.js';
import { withoutNesting } from './shared/raw-call.js';
import type { Serving } from './shared/serving.js';

/** Largest body of a request, in bytes: 4 MiB. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
/** A request with this version in its header is handled as 2026-07-28, even if it is invalid. */
const CURRENT_VERSION = '2026-07-28';
/** Methods of the MCP endpoint, in the header Allow. */
const MCP_METHODS = 'GET, HEAD, POST';
/** JSON-RPC code of a header that is missing or doesn't match the body (specs: 2026-07-28 streamable-http). */
const HEADER_MISMATCH = -32020;

export interface HttpApp {
  app: Hono;
  /** Begins the shutdown: answers waits and requests, ends streams, refuses new requests. */
  drain: () => Promise<void>;
  /** Closes the remaining streams and requests. */
  close: () => Promise<void>;
}

/**
 * @param more.audit records who does what. Default: nothing is recorded
 * @param more.mounted features beside operations. Default: none
 */
export function createHttpApp(
  engine: Engine,
  settings: Settings,
  logger: Logger,
  readiness: ServerReadiness,
  { audit, mounted = [] }: { audit?: Audit | undefined; mounted?: readonly Mounted[] } = {},
): HttpApp {
  // Not strict: a path with a slash at its end is the path without it.
  const app = new Hono({ strict: false });
  const subscriptions = new Subscriptions(settings.resourceLinks);
  const authentication = new Authentication(settings, logger);
  const limits = new Limits(settings, engine, logger);
  const policy = policyOf(settings, logger);
  // The routes of jobs count their starts themselves.
  const guardOf = (c: Context, starts = limits.starts) =>
    new Guard(engine, callerOf(c), { policy, limits: starts, audit, mounted }, originOf(c));
  const secret = loadSecret(settings.home);
  const shutdown = new Shutdown();
  const serving: Serving = { transport: 'http', resourceLinks: settings.resourceLinks, logger };
  const handler = createMcpHandler(
    ({ authInfo }) =>
      createCurrentServer(authInfo!.extra!['engine'] as Guard, serving, secret, shutdown),
    {
      legacy: 'reject',
      maxRequestBodySize: BODY_LIMIT_BYTES,
      keepAliveMs: HEARTBEAT_MS,
      onerror: (error) => logger.debug({ reason: error.message }, 'a request was refused'),
    },
  );
  const legacyContext = createSharedContext(engine, secret, logger, serving, shutdown);
  const legacy = new LegacyHttp(legacyContext);
  const cancellations = new Cancellations(logger);
  const identified = { authentication, failures: limits.failedAuthentications, audit };
  const jobs = createJobsApp({
    engine,
    settings,
    secret,
    logger,
    shutdown,
    authenticate: authenticated(identified, (c, error) =>
      renderProblem(c, authenticationProblem(error, authentication.challenge(error))),
    ),
    engineOf: (c) => guardOf(c, limits.counted),
    limits,
    mcpSessionOf(id, principal) {
      const session = legacyContext.sessions.open(id);
      return session?.principal === principal ? sessionScopes(session) : undefined;
    },
  });
  const origins = new Origins(settings);
  app.use(requestContext(logger));
  app.use(measureRequests());
  app.use(endUnreadBody);
  app.use(securityHeaders(settings.tlsCert !== undefined));
  app.use(behindProxies(settings.trustedProxies));
  app.use((c, next) => {
    const isJobsRequest = isJobsPath(c.req.path);
    const request = { ...clientOf(c), origin: c.req.header('origin') };
    const problem = origins.problemOf(request, isJobsRequest ? settings.corsOrigins : []);
    if (problem === undefined) return next();
    c.res = isJobsRequest
      ? renderProblem(c, new Problem('forbidden', problem))
      : c.json(rpcError(null, -32000, problem), 403);
    return Promise.resolve();
  });
  registerHealth(app, { engine, settings, isOpen: !authentication.isOn, readiness });
  app.use(async (c, next) => {
    if (shutdown.hasBegun) refuseDuringShutdown(c);
    else await next();
    // Prevents clients from reusing the connection.
    if (shutdown.hasBegun) c.header('Connection', 'close');
    // Streams of Hono and of the SDK set it, and Node then keeps connections open whose client has asked to close them: proxies
    // that speak HTTP/1.0 would wait for the end of an answer that has no length.
    else if (c.res.headers.get('connection') === 'keep-alive') c.res.headers.delete('connection');
  });
  // Before authentication, as for the jobs API.
  app.options('/mcp', (c) => c.body(null, 204, { Allow: MCP_METHODS }));
  app.use(
    '/mcp',
    authenticated(identified, (c, error) => unauthenticated(c, authentication, error)),
    limited(limits, refusedByLimit, 'status'),
  );
  app.use('/.well-known/*', async (c: Context, next) => {
    try {
      return (await authentication.metadata(c.req.raw)) ?? (await next());
    } catch (error) {
      return unauthenticated(c, authentication, error);
    }
  });
  app.use('/mcp', withoutContentCoding(unsupportedMediaType));
  app.post('/mcp', bodyLimit(BODY_LIMIT_BYTES, tooLarge), async (c) => {
    const guard = guardOf(c);
    let body: unknown;
    try {
      body = withoutNesting(parseJson(new Uint8Array(await c.req.arrayBuffer())));
    } catch (error) {
      if (!(error instanceof JsonRefusal)) throw error;
      if (error.kind !== 'syntax' && error.kind !== 'encoding') return refusedJson(c, error);
    }
    const poll = pollIn(c.req.raw.headers, body);
    if (poll) {
      nameRpcRequest('2026-07-28', body);
      const { resourceLinks } = settings;
      const { httpStatus, message } = await answerPoll(guard, resourceLinks, shutdown, poll, logger);
      return c.json(message, httpStatus);
    }
    const isJson = isJsonContentType(c.req.header('content-type') ?? null);
    const problem = isJson && body !== undefined ? problemOf(body) : undefined;
    if (problem !== undefined) {
      nameRpcRequest('2026-07-28', body);
      return invalidMessage(c, body, problem);
    }
    // The SDK's subscription router doesn't support task IDs. The header must equal the body's method, so it is sufficient.
    if (c.req.header('mcp-method') === 'subscriptions/listen') {
      nameRpcRequest('2026-07-28', body);
      return listen(c, subscriptions, guard, body, logger);
    }
    const isCurrent = c.req.header('mcp-protocol-version') === CURRENT_VERSION;
    const isOlder = !isCurrent && (body === undefined || (await isLegacyRequest(c.req.raw, body)));
    nameRpcRequest(isOlder ? '2025-11-25' : '2026-07-28', body);
    if (isOlder) return legacy.post(c, guard, body);
    if (body === undefined && isJson) return parseError(c);
    if (isCancellation(body)) await cancellations.take(guard, undefined, body.params);
    return streamWhenSlow(
      c.req.raw,
      handler.fetch(withTaskName(c.req.raw, body), {
        // The credential itself goes no further.
        authInfo: { token: '', clientId: '', scopes: [], extra: { engine: guard } },
        ...(body === undefined ? {} : { parsedBody: body }),
      }),
    );
  });
  app.get('/mcp', (c) =>
    c.req.header(SESSION_HEADER) || c.req.header('last-event-id')
      ? legacy.get(c, guardOf(c))
      : methodNotAllowed(c),
  );
  app.all('/mcp', methodNotAllowed);
  app.route('/', jobs.app);
  app.onError((error, c) => {
    logger.error({ err: error }, 'a request failed');
    return c.json(rpcError(null, ProtocolErrorCode.InternalError, 'Internal error'), 500);
  });
  return {
    app,
    async drain() {
      readiness.stopping();
      await shutdown.close();
      subscriptions.close();
      legacy.endStreams();
    },
    async close() {
      authentication.close();
      await Promise.all([handler.close(), legacy.close()]);
    },
  };
}

/** Ends the body of a response to HEAD, which Hono answers like GET and whose body nobody reads: a stream would stay open. */
const endUnreadBody: MiddlewareHandler = async (c, next) => {
  await next();
  if (c.req.method === 'HEAD') await c.res.body?.cancel();
};

/** The method is compared first: most messages aren't notifications, and a failed validation is expensive. */
function isCancellation(body: unknown): body is JSONRPCNotification {
  const { method } = (body ?? {}) as { method?: unknown };
  return method === 'notifications/cancelled' && isJSONRPCNotification(body);
}

/** Answers an MCP request without a valid credential. */
function unauthenticated(c: Context, authentication: Authentication, error: unknown): Response {
  if (error instanceof RateLimited) return refusedByLimit(c, error);
  if (!(error instanceof AuthenticationUnavailable)) return authentication.challenge(error);
  return c.json(rpcError(null, ProtocolErrorCode.InternalError, error.message), 503, {
    'Retry-After': String(RETRY_AFTER_SECONDS),
  });
}

/** Answers a request received during the shutdown. */
function refuseDuringShutdown(c: Context): void {
  const { code, message, data } = refusedByShutdown();
  const isJobsRequest = isJobsPath(c.req.path);
  c.res = isJobsRequest
    ? renderProblem(c, new Problem('server-stopping', message))
    : c.json(rpcError(null, code, message, data), 503);
  c.header('Retry-After', String(RETRY_AFTER_SECONDS));
}

/** Answers a request beyond a limit, before it is read: 429 with a JSON-RPC error. */
function refusedByLimit(c: Context, { kind, message, retryable, retryAfterSeconds }: RateLimited): Response {
  const error = rpcError(null, -32000, message, { kind, retryable, retryAfterSeconds });
  return c.json(error, 429, { 'Retry-After': String(retryAfterSeconds) });
}

async function listen(
  c: Context,
  subscriptions: Subscriptions,
  engine: Guard,
  body: unknown,
  logger: Logger,
): Promise<Response> {
  if (!isJsonContentType(c.req.header('content-type') ?? null))
    return unsupportedMediaType(c, 'Content-Type must be application/json');
  const request = listenRequest(c, body);
  if (request instanceof Response) return request;
  let serve;
  try {
    serve = await openTraced(subscriptions, request, engine, 'http', logger);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    // Status 400 as for the SDK's own errors before dispatch (specs: 2026-07-28 streamable-http).
    const isEarly =
      error.code === ProtocolErrorCode.MissingRequiredClientCapability ||
      error.code === ProtocolErrorCode.UnsupportedProtocolVersion;
    return c.json(rpcError(request.id, error.code, error.message, error.data), isEarly ? 400 : 200);
  }
  c.header('X-Accel-Buffering', 'no');
  return streamSSE(c, async (stream) => {
    const disconnected = new AbortController();
    stream.onAbort(() => disconnected.abort());
    const stopHeartbeat = onHeartbeat(() => void stream.write(': heartbeat\n\n'));
    try {
      await serve({
        send: (message) => stream.writeSSE({ event: 'message', data: JSON.stringify(message) }),
        signal: disconnected.signal,
      });
    } finally {
      stopHeartbeat();
    }
  });
}

/**
 * Validates a request like the SDK's handler, in the same order; returns the request or the error response.
 *
 * @param body undefined if it isn't JSON in UTF-8
 */
function listenRequest(c: Context, body: unknown): JSONRPCRequest | Response {
  if (body === undefined) return parseError(c);
  const id = isJSONRPCRequest(body) ? body.id : null;
  const protocolVersionHeader = c.req.header('mcp-protocol-version');
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    body,
    mcpMethodHeader: c.req.header('mcp-method'),
    ...(protocolVersionHeader === undefined ? {} : { protocolVersionHeader }),
  } as Parameters<typeof classifyInboundRequest>[0]);
  if (outcome.kind === 'reject')
    return c.json(rpcError(id, outcome.code, outcome.message, outcome.data), outcome.httpStatus as 400);
  if (protocolVersionHeader === undefined || outcome.kind !== 'modern' || !isJSONRPCRequest(body)) {
    const message =
      'Header mismatch: subscriptions/listen needs MCP-Protocol-Version and the per-request _meta envelope of 2026-07-28';
    return c.json(rpcError(id, HEADER_MISMATCH, message), 400);
  }
  return body;
}

/** GET is only for sessions of 2025-11-25 and earlier; DELETE isn't supported, since sessions expire by themselves. */
function methodNotAllowed(c: Context): Response {
  return c.json(rpcError(null, -32000, 'Method not allowed.'), 405, { Allow: MCP_METHODS });
}

function unsupportedMediaType(c: Context, detail: string): Response {
  return c.json(rpcError(null, -32000, `Unsupported Media Type: ${detail}`), 415);
}

function parseError(c: Context): Response {
  return c.json(
    rpcError(null, ProtocolErrorCode.ParseError, 'Parse error: the request body is not valid JSON in UTF-8'),
    400,
  );
}

function problemOf(body: unknown): string | undefined {
  return Array.isArray(body) ? batchProblem(body, MAX_BATCH) : memberProblem(body);
}

/** Error response for JSON that is no JSON-RPC message. */
function invalidMessage(c: Context, body: unknown, problem: string): Response {
  const { InvalidRequest } = ProtocolErrorCode;
  return c.json(rpcError(idIn(body), InvalidRequest, `Invalid Request: ${problem}`), 400);
}

/** Error response for refused JSON. */
function refusedJson(c: Context, refusal: JsonRefusal): Response {
  const { code, message } = asRpcError(refusal);
  return c.json(rpcError(refusal.id, code, message), 400);
}

function tooLarge(c: Context): Response {
  return c.json(rpcError(null, -32000, `the request body is over ${BODY_LIMIT_BYTES} bytes`), 413);
}

function rpcError(id: string | number | null, code: number, message: string, data?: unknown) {
  noteRpcError();
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}
