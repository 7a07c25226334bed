/** Metrics of HTTP requests, by protocol, method and outcome. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import { areMetricsOn, gauge, observe, OTHER } from '../../platform/observe/metrics/index.js';

interface MeasuredRequest {
  protocol: string;
  method: string;
  hasRpcError: boolean;
}

/** JSON-RPC methods that get their own series. Clients may send any other name. */
const METHODS: ReadonlySet<unknown> = new Set([
  ...['initialize', 'ping', 'server/discover', 'tools/list', 'tools/call', 'subscriptions/listen'],
  ...['tasks/get', 'tasks/result', 'tasks/update', 'tasks/cancel', 'tasks/list'],
  ...['tools/async/status', 'tools/async/result', 'tools/poll_result', 'tools/cancel_job'],
  ...['resources/list', 'resources/templates/list', 'resources/read', 'resources/subscribe'],
  ...['resources/unsubscribe', 'prompts/list', 'prompts/get', 'logging/setLevel', 'completion/complete'],
  ...['notifications/initialized', 'notifications/cancelled', 'notifications/progress'],
]);

const HTTP_JOBS = 'http-jobs';

const current = new AsyncLocalStorage<MeasuredRequest>();
const openStreams = new Map<string, number>();

/** Middleware that measures each request until its response was sent. Does nothing while metrics are off. */
export function measureRequests(): MiddlewareHandler {
  if (!areMetricsOn()) return (_c, next) => next();
  gauge('longhaul_streams_open', () => [...openStreams].map(([protocol, open]) => [{ protocol }, open]));
  return (c, next) => {
    const request: MeasuredRequest = { protocol: OTHER, method: OTHER, hasRpcError: false };
    return current.run(request, () => measure(c, next, request));
  };
}

async function measure(c: Context, next: () => Promise<void>, request: MeasuredRequest): Promise<void> {
  const startedMs = performance.now();
  const { outgoing } = c.env as HttpBindings;
  let endStream: (() => void) | undefined;
  const end = () => {
    // A stream lasts as long as its client wants.
    if (endStream) return endStream();
    const { protocol, method } = request;
    const labels = { protocol, method, outcome: outcomeOf(outgoing, request) };
    observe('longhaul_request_duration_seconds', labels, (performance.now() - startedMs) / 1_000);
  };
  outgoing.once('close', end);
  await next();
  if (request.protocol === OTHER) nameRoute(c, request);
  if (isStream(c, request)) endStream = countStream(request.protocol);
}

/** Names the current request. @param body its parsed JSON */
export function nameRpcRequest(protocol: '2026-07-28' | '2025-11-25', body: unknown): void {
  const request = current.getStore();
  if (!request) return;
  request.protocol = protocol;
  if (Array.isArray(body)) request.method = 'batch';
  else {
    const { method } = (body ?? {}) as { method?: unknown };
    // A message without a method is a client's response.
    if (method === undefined) request.method = body === undefined ? OTHER : 'response';
    else request.method = METHODS.has(method) ? (method as string) : OTHER;
  }
}

/** Protocol of the current request; `stdio` outside HTTP. */
export function requestProtocol(): string {
  return current.getStore()?.protocol ?? 'stdio';
}

/** Notes that the current request gets a JSON-RPC error, whatever its HTTP status. */
export function noteRpcError(): void {
  const request = current.getStore();
  if (request) request.hasRpcError = true;
}

/** Names jobs API paths by their route, which holds no ID. */
function nameRoute(c: Context, request: MeasuredRequest): void {
  const { path } = c.req;
  if (path === '/mcp') request.protocol = c.req.method === 'GET' ? '2025-11-25' : OTHER;
  else if (/^\/(v1|openapi\.json|docs|problems)(\/|$)/.test(path)) request.protocol = HTTP_JOBS;
  if (path === '/mcp' && c.req.method === 'GET') request.method = 'stream';
  if (request.protocol !== HTTP_JOBS) return;
  const route = matchedRoutes(c).findLast(({ method, path: of }) => method !== 'ALL' && !of.endsWith('*'));
  if (route) request.method = `${c.req.method} ${route.path.replaceAll(/\{[^:}]*(:\w+)?\}/g, '$1')}`;
}

function outcomeOf(
  { statusCode, writableFinished }: HttpBindings['outgoing'],
  request: MeasuredRequest,
): string {
  if (statusCode >= 500) return 'server_error';
  if (statusCode >= 400) return 'client_error';
  if (request.hasRpcError) return 'rpc_error';
  return writableFinished ? 'ok' : 'disconnected';
}

function isStream(c: Context, { method }: MeasuredRequest): boolean {
  const isOfEvents = c.res.headers.get('content-type')?.includes('text/event-stream') === true;
  return isOfEvents && (c.req.method === 'GET' || method === 'subscriptions/listen');
}

function countStream(protocol: string): () => void {
  openStreams.set(protocol, (openStreams.get(protocol) ?? 0) + 1);
  return () => void openStreams.set(protocol, openStreams.get(protocol)! - 1);
}
