/** The jobs API: tools as jobs over plain HTTP, for clients without MCP. A job is an operation, and its ID the operation's token. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { tracing } from '../../platform/observe/tracing/index.js';
import { currentWork, inWork, type WorkContext } from '../../platform/observe/work-context.js';
import { bodyLimit, withoutContentCoding } from '../http/body-limit.js';
import { REQUEST_ID_HEADER } from '../http/request-context.js';
import { RETRY_AFTER_SECONDS } from '../shutdown/index.js';
import { limited, RateLimited } from '../limits/index.js';
import { registerArtifacts } from './artifacts.js';
import { registerCancel, registerDelete } from './cancel.js';
import { WAIT_ENDED_HEADER, type JobsContext, type JobsOptions, type RegisterRoutes } from './context.js';
import { registerEvents } from './events.js';
import { registerInput } from './input.js';
import { registerKickoff, registerResume } from './kickoff.js';
import { registerList } from './list.js';
import { registerLogs, registerSteps } from './logs.js';
import { logRetentionWarning, registerDocsPage, registerOpenApi } from './rendering/openapi.js';
import { Problem, PROBLEMS, type ProblemType, toProblem, renderProblem } from './rendering/problems.js';
import { registerResult } from './result.js';
import { allowHeader, answerOptions, registerFallback, routeOf } from './route.js';
import { registerTools } from './tools.js';
import { registerStatus } from './status.js';

export { isJobsPath } from './route.js';
export { Problem, renderProblem } from './rendering/problems.js';

/** Largest request body: 4 MiB. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
/** Response headers that allowed cross-origin pages may read. */
const EXPOSED_HEADERS = [
  'Location',
  'Retry-After',
  'ETag',
  'Link',
  'Preference-Applied',
  'Idempotent-Replayed',
  WAIT_ENDED_HEADER,
  'RateLimit',
  'RateLimit-Policy',
  'Content-Range',
  'Accept-Ranges',
  'WWW-Authenticate',
  REQUEST_ID_HEADER,
];

/** All routes. Those with a verb come first, or others would match it as part of an ID. */
const ROUTES: RegisterRoutes[] = [
  registerResume,
  registerDelete,
  registerCancel,
  registerKickoff,
  registerList,
  registerStatus,
  registerEvents,
  registerTools,
  registerInput,
  registerResult,
  registerSteps,
  registerLogs,
  registerArtifacts,
  registerOpenApi,
  registerDocsPage,
];

export function createJobsApp(options: JobsOptions): OpenAPIHono {
  const { engine, settings, logger, authenticate, limits, shutdown } = options;
  const app = new OpenAPIHono();
  const context: JobsContext = { ...options, app, paths: new Map() };
  app.use(allowHeader(context));
  if (settings.corsOrigins.length)
    for (const path of ['/v1/*', '/problems/*', '/openapi.json'])
      app.use(path, cors({ origin: settings.corsOrigins, exposeHeaders: EXPOSED_HEADERS }));
  // Before authentication: browsers send no credential with a preflight request, and the answer has nothing secret.
  app.use(answerOptions);
  app.use('/openapi.json', authenticate);
  app.use(
    '/v1/*',
    authenticate,
    limited(limits, (c, error) => renderProblem(c, toProblem(error))),
    traced(context),
    (_c, next) => shutdown.track(next()),
    withoutContentCoding((c, detail) => renderProblem(c, new Problem('unsupported-media-type', detail))),
    bodyLimit(BODY_LIMIT_BYTES, refuseBody),
    // A refusal that comes while a client still writes would break its connection.
    async (c, next) => {
      if (!/^(GET|HEAD)$/.test(c.req.method)) await c.req.arrayBuffer();
      return next();
    },
  );
  for (const register of ROUTES) register(context);
  registerFallback(context);
  app.onError((error, c) => {
    const problem = toProblem(error);
    if (PROBLEMS[problem.type].status === 500) logger.error({ err: error }, 'a request failed');
    return renderProblem(c, problem);
  });
  void logRetentionWarning(engine, logger);
  return app;
}

const AUTHENTICATION_PROBLEMS: Record<string, ProblemType> = {
  [OAuthErrorCode.InsufficientScope]: 'insufficient-scope',
  [OAuthErrorCode.AccessDenied]: 'certificate-required',
};

/** @param challenge the response for the error, whose WWW-Authenticate is reused */
export function authenticationProblem(error: unknown, challenge: Response): Problem {
  if (error instanceof RateLimited) return toProblem(error);
  const value = challenge.headers.get('WWW-Authenticate');
  const headers: Record<string, string> = value === null ? {} : { 'WWW-Authenticate': value };
  if (!(error instanceof OAuthError))
    return new Problem('unavailable', (error as Error).message, {
      headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    });
  return new Problem(AUTHENTICATION_PROBLEMS[error.code] ?? 'unauthenticated', error.message, { headers });
}

function refuseBody(c: Parameters<typeof renderProblem>[0]): Response {
  return renderProblem(
    c,
    new Problem('too-large', `body: expected at most ${BODY_LIMIT_BYTES} bytes; got more`),
  );
}

/**
 * Middleware that records an authenticated request as a span, by OpenTelemetry's semantic conventions for HTTP. A stream's span ends
 * when its response begins.
 */
function traced(context: JobsContext): MiddlewareHandler {
  return async (c, next) => {
    const before = currentWork();
    const { method } = c.req;
    const span = tracing()?.startSpan(method, {
      kind: 'server',
      parent: before?.trace,
      attributes: {
        'http.request.method': method,
        'network.transport': 'tcp',
        'network.protocol.name': 'http',
      },
    });
    if (!span) return next();
    const work: WorkContext = { ...before, span, trace: span.context };
    await inWork(work, next);
    const route = routeOf(context, c);
    const { status } = c.res;
    if (route !== undefined) span.rename(`${method} ${route}`);
    span.set({
      'http.route': route,
      'http.response.status_code': status,
      'gen_ai.tool.name': work.tool,
      'longhaul.token': work.token,
    });
    if (status >= 500) span.fail(String(status));
    span.end();
    work.isOver = true;
    Object.assign(before ?? {}, { tool: work.tool, token: work.token });
  };
}
