/** Routes of the jobs API: their description in /openapi.json, their rates, the validation of their requests, and refusals of others. */
import type { RouteConfig, z } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import { defined } from '../../operations/json/defined.js';
import { RATE_WINDOW_SECONDS, RateLimited, type Quota, type RateName } from '../limits/rates.js';
import { invalidRequest, readBody } from './body.js';
import type { JobsContext } from './context.js';
import { Problem, type ProblemType } from './rendering/problems.js';
import { BODY_PROBLEMS, header, responses } from './rendering/schemas.js';

export interface Route<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
> extends Pick<RouteConfig, 'method' | 'operationId' | 'summary' | 'description'> {
  /** As in OpenAPI. Paths with a verb, `/v1/jobs/{id}:cancel`, are registered before those that would match it as part of an ID. */
  path: string;
  tag: 'Jobs' | 'Results' | 'Tools' | 'Problems';
  /** The rate that counts the requests. Default: none. */
  rate?: RateName;
  params?: Params;
  /** Whether the path's last parameter may have slashes that aren't encoded. Default: false. */
  mayHaveSlashes?: boolean;
  query?: Query;
  /** Only documented: whatever reads a header validates it. */
  headers?: z.ZodObject;
  body?: Body;
  /** Default: false. */
  isBodyRequired?: boolean;
  /** Responses to requests that succeed. */
  success: RouteConfig['responses'];
  /** Besides those of all routes, of bodies and of rates. Default: none. */
  problems?: readonly ProblemType[];
}

type Handle<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType> = (
  c: Context,
  request: { params: z.output<Params>; query: z.output<Query>; body: z.output<Body> },
) => Response | Promise<Response>;

/** The library documents paths with a verb but can't route them, so Hono's router does that for all. */
export function registerRoute<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType>(
  context: JobsContext,
  route: Route<Params, Query, Body>,
  handle: Handle<Params, Query, Body>,
): void {
  const { app, paths } = context;
  const { method, path, rate, params, query, body, mayHaveSlashes } = route;
  app.openAPIRegistry.registerPath(describe(route));
  const verb = /:\w+$/.exec(path)?.[0] ?? '';
  const routed = path
    // The last unencoded colon starts the verb. Colons in an ID may be encoded as %3A or not.
    .replace(/\{(\w+)\}(:\w+)$/, ':$1{[^/]+$2}')
    .replace(/\{(\w+)\}$/, mayHaveSlashes ? ':$1{.+}' : ':$1')
    .replaceAll(/\{(\w+)\}/g, ':$1');
  paths.set(routed, path);
  app.on(method, [routed], ...(rate ? [limitRate(context, rate)] : []), async (c: Context) => {
    const given = c.req.param() as Record<string, string>;
    if (verb) given['id'] = given['id']!.slice(0, -verb.length);
    return handle(c, {
      query: valid('query', query, queryOf(c)),
      params: valid('param', params, given),
      body: body && (await readBody(c, body)),
    } as Parameters<typeof handle>[1]);
  });
  if (verb) app.all(routed, refuseMethod(context));
}

function describe({
  tag,
  rate,
  params,
  query,
  headers,
  body,
  isBodyRequired: required = false,
  success,
  problems = [],
  mayHaveSlashes: _mayHaveSlashes,
  ...description
}: Route<z.ZodObject, z.ZodObject, z.ZodType>): RouteConfig {
  const content = body && { body: { required, content: { 'application/json': { schema: body } } } };
  const all: ProblemType[] = [
    ...problems,
    ...(body ? BODY_PROBLEMS : []),
    ...(rate ? (['rate-limited'] as const) : []),
  ];
  return {
    ...description,
    tags: [tag],
    request: { ...defined({ params, query, headers }), ...content },
    responses: responses(rate ? withRateHeaders(success) : success, all),
  };
}

function valid<S extends z.ZodType>(target: string, schema: S | undefined, value: unknown) {
  const parsed = schema?.safeParse(value);
  if (parsed?.success === false) throw invalidRequest(target, parsed.error.issues);
  return parsed?.data;
}

/** Parameters that come several times are lists, which no schema accepts. */
function queryOf(c: Context): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? values[0]! : values,
    ]),
  );
}

/** draft-ietf-httpapi-ratelimit-headers-10. */
const RATE_HEADERS = {
  'RateLimit-Policy': header('The limit: its name, how many requests (q) in how many seconds (w).'),
  RateLimit: header('Remaining requests (r), and seconds until the quota resets (t).'),
};

function withRateHeaders(success: RouteConfig['responses']): RouteConfig['responses'] {
  return Object.fromEntries(
    Object.entries(success).map(([status, response]) => [
      status,
      { ...response, headers: { ...RATE_HEADERS, ...(response as { headers?: object }).headers } },
    ]),
  );
}

/** Middleware that counts a request and sets the RateLimit headers. Refuses it with 429 beyond the limit. */
function limitRate({ limits, engineOf }: JobsContext, name: RateName): MiddlewareHandler {
  return async (c, next) => {
    let quota: Quota;
    try {
      quota = await limits.rates.count(name, engineOf(c).principal);
    } catch (error) {
      if (!(error instanceof RateLimited)) throw error;
      const headers = error.quota && rateHeaders(name, error.quota);
      throw new Problem('rate-limited', error.message, {
        headers: { 'Retry-After': String(error.retryAfterSeconds), ...headers },
      });
    }
    for (const [header, value] of Object.entries(rateHeaders(name, quota))) c.header(header, value);
    return next();
  };
}

function rateHeaders(name: RateName, { limit, remaining, resetSeconds }: Quota): Record<string, string> {
  return {
    'RateLimit-Policy': `"${name}";q=${limit};w=${RATE_WINDOW_SECONDS}`,
    RateLimit: `"${name}";r=${remaining};t=${resetSeconds}`,
  };
}

const OURS = /^\/(v1|problems|docs|openapi\.json)(\/|$)/;

/** Whether a path belongs to the jobs API, even without a route. */
export function isJobsPath(path: string): boolean {
  return OURS.test(path);
}

/** The route of a request, as in OpenAPI. Undefined if none has served it. */
export function routeOf({ paths }: JobsContext, c: Context): string | undefined {
  return matchedRoutes(c)
    .map((route) => paths.get(route.path))
    .findLast((path) => path !== undefined);
}

/** Registers the catch-all routes: 405 if the path has another method, else 404. Call it after all others. */
export function registerFallback(context: JobsContext): void {
  for (const path of ['/v1', '/v1/*', '/problems', '/problems/*', '/docs', '/docs/*', '/openapi.json'])
    context.app.all(path, refuseMethod(context));
}

function refuseMethod(context: JobsContext) {
  return (c: Context): never => {
    const methods = methodsOf(context, c.req.path).join(', ');
    if (!methods) throw new Problem('unknown-route', `${c.req.path}: expected a path of /openapi.json`);
    throw new Problem('method-not-allowed', `${c.req.method}: expected ${methods} here`, {
      headers: { Allow: methods },
    });
  };
}

/** Middleware that adds the path's methods to OPTIONS (RFC 9110, section 9.3.7). It leaves unknown paths to others. */
export function allowHeader(context: JobsContext): MiddlewareHandler {
  return (c, next) => {
    if (c.req.method !== 'OPTIONS' || !isJobsPath(c.req.path)) return next();
    const methods = methodsOf(context, c.req.path);
    if (methods.length > 0) c.header('Allow', methods.join(', '));
    return next();
  };
}

/** Runs after {@link allowHeader} and after CORS, which answers preflight requests itself. */
export const answerOptions: MiddlewareHandler = (c, next) => {
  const isAnswered = c.req.method === 'OPTIONS' && c.res.headers.has('allow');
  return isAnswered ? Promise.resolve(c.body(null, 204)) : next();
};

/** The methods that routes serve at a path. Empty if none does. */
function methodsOf({ app, paths }: JobsContext, path: string): string[] {
  const isServed = (method: string) => {
    const handlers = app.router.match(method, path)[0].map(([[, route]]) => route);
    // Handlers for all methods are middleware, but for the refusal of a path with a verb.
    return handlers.find((one) => one.method !== 'ALL' || paths.has(one.path))?.method === method;
  };
  const methods = ['GET', 'POST', 'DELETE'].filter(isServed);
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods;
}
