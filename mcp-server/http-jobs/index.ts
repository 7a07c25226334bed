/** The jobs API: tools as jobs over plain HTTP, for clients without MCP. A job is an operation, and its ID the operation's token. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import { cors } from 'hono/cors';
import { bodyLimit, withoutContentCoding } from '../http/body-limit.js';
import { REQUEST_ID_HEADER } from '../http/request-context.js';
import { RETRY_AFTER_SECONDS } from '../shutdown/index.js';
import { limited, RateLimited } from '../limits/index.js';
import { registerArtifacts } from './artifacts.js';
import { invalidRequest, prepareBody } from './body.js';
import { registerCancel } from './cancel.js';
import { registerDelete, registerResume } from './custom-method.js';
import { registerDocsPage } from './rendering/docs-page.js';
import { WAIT_ENDED_HEADER, type JobsContext, type JobsOptions, type RegisterRoutes } from './context.js';
import { registerEvents } from './events.js';
import { allowHeader, answerOptions, registerFallback } from './fallback.js';
import { registerInput } from './input.js';
import { registerKickoff } from './kickoff.js';
import { registerList } from './list.js';
import { registerLogs } from './logs.js';
import { registerOpenApi, logRetentionWarning } from './rendering/openapi.js';
import { Problem, PROBLEMS, type ProblemType, toProblem, renderProblem } from './rendering/problems.js';
import { Rates } from './rates.js';
import { registerResult } from './result.js';
import { registerTools } from './tools.js';
import { registerStatus } from './status.js';
import { registerSteps } from './steps.js';
import { traceJobsRequest } from './trace-request.js';

export { isJobsPath } from './fallback.js';
export { Problem } from './rendering/problems.js';
export { problemDocument, PROBLEM_CONTENT_TYPE, renderProblem } from './rendering/problems.js';

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

/** All route files. Custom methods come first, or other routes would match their verbs as part of an ID. */
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
  const { engine, settings, logger, authenticate, engineOf, limits, shutdown } = options;
  const app = new OpenAPIHono({
    defaultHook: (result) => {
      if (!result.success) throw invalidRequest(result.target, result.error.issues);
    },
  });
  const context: JobsContext = {
    ...options,
    app,
    rates: new Rates(limits.rates, (c) => engineOf(c).principal),
  };
  app.use(allowHeader(app));
  if (settings.corsOrigins.length)
    for (const path of ['/v1/*', '/problems/*', '/openapi.json'])
      app.use(path, cors({ origin: settings.corsOrigins, exposeHeaders: EXPOSED_HEADERS }));
  // Before authentication: browsers send no credential with a preflight request, and the answer has nothing secret.
  app.use(answerOptions);
  app.use('/v1/*', authenticate);
  app.use(
    '/v1/*',
    limited(limits, (c, error) => renderProblem(c, toProblem(error))),
  );
  app.use('/openapi.json', authenticate);
  app.use('/v1/*', traceJobsRequest);
  app.use('/v1/*', (_c, next) => shutdown.track(next()));
  app.use(
    '/v1/*',
    withoutContentCoding((c, detail) => renderProblem(c, new Problem('unsupported-media-type', detail))),
  );
  app.use('/v1/*', bodyLimit(BODY_LIMIT_BYTES, refuseBody));
  app.on(['POST', 'DELETE'], '/v1/*', prepareBody);
  for (const register of ROUTES) register(context);
  registerFallback(app);
  app.onError((error, c) => {
    const problem = toProblem(error);
    if (PROBLEMS[problem.type].status === 500) logger.error({ err: error }, 'a request failed');
    return renderProblem(c, problem);
  });
  void logRetentionWarning(engine, logger, shutdown.signal);
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
