/** HTTP application: the MCP endpoint, the HTTP jobs API, health and readiness, behind host and origin checks. */
import { isJsonContentType, isLegacyRequest, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import type { Engine } from '../engine/index.js';
import type { Settings } from '../platform/settings/index.js';
import { behindProxies, clientOf } from '../platform/http/client-address.js';
import { Origins } from '../platform/http/origins.js';
import type { Logger } from '../platform/observe/log.js';
import { loadSecret } from '../platform/home/secret.js';
import { type Audit, originOf } from './audit/index.js';
import { authenticated, callerOf } from './auth/middleware.js';
import { Authentication } from './auth/index.js';
import { Guard, policyOf } from './guard.js';
import {
  authenticationProblem,
  createJobsApp,
  isJobsPath,
  Problem,
  renderProblem,
} from './http-jobs/index.js';
import { bodyLimit, withoutContentCoding } from './http/body-limit.js';
import { registerHealth, type ServerReadiness } from './http/readiness.js';
import { requestContext } from './http/request-context.js';
import { securityHeaders } from './http/security-headers.js';
import { RETRY_AFTER_SECONDS, Shutdown, refusedByShutdown } from './shutdown/index.js';
import { limited, Limits } from './limits/index.js';
import { measureRequests, nameRpcRequest } from './metrics/requests.js';
import { createSharedContext } from './revision-2025-11-25/context.js';
import { LegacyHttp, SESSION_HEADER } from './revision-2025-11-25/http.js';
import { MAX_BATCH } from './revision-2025-11-25/messages.js';
import type { Mounted } from './mount.js';
import { sessionScopes } from './revision-2025-11-25/session.js';
import { CurrentHttp, isNamedCurrent, VERSION } from './revision-2026-07-28/http.js';
import {
  beyondLimit,
  BODY_LIMIT_BYTES,
  invalidMessage,
  MCP_METHODS,
  methodNotAllowed,
  refusedJson,
  rpcError,
  tooLarge,
  unauthenticated,
  unsupportedMediaType,
} from './rpc-refusals.js';
import { JsonRefusal, parseJson } from './json/index.js';
import { batchProblem, memberProblem, withoutNesting } from './json/message-problem.js';
import type { Serving } from './call/serving.js';

export interface HttpApp {
  app: Hono;
  /** Begins the shutdown: answers waits and requests, ends streams, refuses new requests. */
  drain: () => Promise<void>;
  /** Closes the remaining streams and requests. */
  close: () => Promise<void>;
}

export function createHttpApp(
  engine: Engine,
  settings: Settings,
  logger: Logger,
  readiness: ServerReadiness,
  { audit, mounted = [] }: { audit?: Audit | undefined; mounted?: readonly Mounted[] } = {},
): HttpApp {
  // Not strict: a trailing slash in a path is ignored.
  const app = new Hono({ strict: false });
  const authentication = new Authentication(settings, logger);
  const limits = new Limits(settings, engine, logger);
  const policy = policyOf(settings, logger);
  // The jobs routes count their own starts.
  const guardOf = (c: Context, starts = limits.starts) =>
    new Guard(engine, callerOf(c), { policy, limits: starts, audit, mounted }, originOf(c));
  const secret = loadSecret(settings.home);
  const shutdown = new Shutdown();
  const serving: Serving = { transport: 'http', resourceLinks: settings.resourceLinks, logger };
  const current = new CurrentHttp(serving, secret, shutdown);
  const legacyContext = createSharedContext(engine, secret, logger, serving, shutdown);
  const legacy = new LegacyHttp(legacyContext);
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
  const origins = new Origins({ ...settings, resource: authentication.resource });
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
    if (shutdown.hasBegun) c.header('Connection', 'close');
    // Hono's and the SDK's streams set keep-alive, even when the client asked to close. Node would then keep the connection open,
    // and HTTP/1.0 proxies would wait forever for the end of an answer without a length.
    else if (c.res.headers.get('connection') === 'keep-alive') c.res.headers.delete('connection');
  });
  // Before authentication, as for the jobs API.
  app.options('/mcp', (c) => c.body(null, 204, { Allow: MCP_METHODS }));
  app.use(
    '/mcp',
    authenticated(identified, (c, error) => unauthenticated(c, authentication, error)),
    limited(limits, beyondLimit, 'status'),
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
    const poll = await current.poll(c, guard, body);
    if (poll) return poll;
    const isJson = isJsonContentType(c.req.header('content-type') ?? null);
    const problem = isJson && body !== undefined ? problemOf(body) : undefined;
    if (problem !== undefined) {
      nameRpcRequest(VERSION, body);
      return invalidMessage(c, body, problem);
    }
    const isOlder = !isNamedCurrent(c) && (body === undefined || (await isLegacyRequest(c.req.raw, body)));
    nameRpcRequest(isOlder ? '2025-11-25' : VERSION, body);
    return isOlder ? legacy.post(c, guard, body) : current.post(c, guard, body);
  });
  app.get('/mcp', (c) =>
    c.req.header(SESSION_HEADER) || c.req.header('last-event-id')
      ? legacy.get(c, guardOf(c))
      : methodNotAllowed(c),
  );
  app.all('/mcp', methodNotAllowed);
  app.route('/', jobs);
  app.onError((error, c) => {
    logger.error({ err: error }, 'a request failed');
    return c.json(rpcError(null, ProtocolErrorCode.InternalError, 'Internal error'), 500);
  });
  return {
    app,
    async drain() {
      readiness.stopping();
      await shutdown.close();
      current.endStreams();
      legacy.endStreams();
    },
    async close() {
      authentication.close();
      await Promise.all([current.close(), legacy.close()]);
    },
  };
}

/** Ends the body of a response to HEAD: Hono answers HEAD like GET, and an unread stream would stay open. */
const endUnreadBody: MiddlewareHandler = async (c, next) => {
  await next();
  if (c.req.method === 'HEAD') await c.res.body?.cancel();
};

function problemOf(body: unknown): string | undefined {
  return Array.isArray(body) ? batchProblem(body, MAX_BATCH) : memberProblem(body);
}

function refuseDuringShutdown(c: Context): void {
  const { code, message, data } = refusedByShutdown();
  c.res = isJobsPath(c.req.path)
    ? renderProblem(c, new Problem('server-stopping', message))
    : c.json(rpcError(null, code, message, data), 503);
  c.header('Retry-After', String(RETRY_AFTER_SECONDS));
}
