/** Problem types of the jobs API (RFC 9457): one closed table for error responses, the OpenAPI document and the documentation. */
import { STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Context } from 'hono';
import { type ErrorKind, isKind, LonghaulError } from '../../../operations/errors.js';
import { lostValueIn } from '../../../platform/storage/index.js';

interface ProblemKind {
  status: number;
  /** The same for every occurrence (RFC 9457, section 3.1.3). */
  title: string;
  advice: string;
}

/** The URI reference of a type is `/problems/{name}`. */
export const PROBLEMS = {
  'invalid-json': { status: 400, title: 'The body is not JSON', advice: 'Send a JSON object.' },
  'invalid-request': {
    status: 400,
    title: 'The request does not match its schema',
    advice: 'Correct the fields that `errors` names; unknown fields are refused.',
  },
  'invalid-arguments': {
    status: 400,
    title: "The arguments do not match the tool's schema",
    advice: 'Nothing was started. Correct the arguments that `detail` names.',
  },
  'invalid-answer': {
    status: 400,
    title: "The answer does not match the question's schema",
    advice: 'The question is still open. Correct the answer.',
  },
  'invalid-cursor': {
    status: 400,
    title: 'The cursor does not belong to this list',
    advice: 'Send the cursor unchanged, with the same filters or none, or start without a cursor.',
  },
  'invalid-idempotency-key': {
    status: 400,
    title: 'The Idempotency-Key is invalid',
    advice: 'Send 1 to 255 visible ASCII characters.',
  },
  'invalid-session': {
    status: 400,
    title: 'The session header is invalid',
    advice: 'Longhaul-Session: 1 to 200 visible ASCII characters. Mcp-Session-Id: as the server gave it.',
  },
  'invalid-event-id': {
    status: 400,
    title: 'The Last-Event-ID does not belong to this job',
    advice: "Open the stream without it: it begins with the job's first event.",
  },
  unauthenticated: {
    status: 401,
    title: 'The caller is unknown',
    advice: 'Send a valid credential in the header that `detail` names.',
  },
  'insufficient-scope': {
    status: 403,
    title: 'The access token lacks a scope',
    advice: 'Get an access token with the scope that WWW-Authenticate names.',
  },
  'certificate-required': {
    status: 403,
    title: 'The connection has no valid client certificate',
    advice: 'Connect with a certificate of an authority that the server trusts, as `detail` says.',
  },
  forbidden: {
    status: 403,
    title: 'The host or origin is not allowed',
    advice: 'Call the server by a name that its settings allow.',
  },
  'not-allowed': {
    status: 403,
    title: "The caller's roles do not allow the request",
    advice: 'Ask the administrator of the policy of this server for a role that does.',
  },
  'unknown-route': { status: 404, title: 'Unknown route', advice: '/openapi.json lists all routes.' },
  'unknown-tool': { status: 404, title: 'Unknown tool', advice: 'GET /v1/tools lists them.' },
  'job-not-found': {
    status: 404,
    title: 'Unknown job',
    advice: 'It never existed, is no longer kept, or belongs to another caller. GET /v1/jobs lists yours.',
  },
  'resource-not-found': {
    status: 404,
    title: 'The job has no such result, log or file',
    advice: "Look it up in the lists of the job's steps and files, which are under its links.",
  },
  'method-not-allowed': {
    status: 405,
    title: 'The method is not allowed here',
    advice: 'The Allow header lists the allowed methods.',
  },
  'wrong-state': {
    status: 409,
    title: 'The state of the job does not allow this',
    advice: 'Read its status.',
  },
  'job-expired': {
    status: 410,
    title: 'The job has expired',
    advice: 'Its result was kept for the published time. Start it again if it is still needed.',
  },
  'value-lost': {
    status: 410,
    title: 'A value of the job is no longer in storage',
    advice: 'The job and its other values can still be read. Start it again if the value is still needed.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request did not arrive in time',
    advice: 'Send headers and body without pauses.',
  },
  'too-large': {
    status: 413,
    title: 'The body or the arguments are too large',
    advice: 'Pass large data by reference.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The content type of the body is not application/json, or it has a content coding',
    advice: 'Send Content-Type: application/json, and no Content-Encoding.',
  },
  'range-not-satisfiable': {
    status: 416,
    title: 'The range cannot be served',
    advice: 'Content-Range has the size in bytes.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'The Idempotency-Key belongs to another request',
    advice: 'Choose a new key for a new request.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    advice: 'Repeat the request after Retry-After.',
  },
  'headers-too-large': {
    status: 431,
    title: 'The address and headers are too large',
    advice: 'Together they are limited to 16 KiB.',
  },
  internal: { status: 500, title: 'Internal server error', advice: "The server's log has the details." },
  'not-supported': {
    status: 501,
    title: 'This server cannot do that',
    advice: 'Its Temporal server lacks a required feature, which `detail` names.',
  },
  'server-stopping': {
    status: 503,
    title: 'The server is stopping',
    advice: 'Nothing was done. Repeat the request after Retry-After, here or at another server.',
  },
  'queue-full': {
    status: 503,
    title: "The tool's queue is full",
    advice: 'Nothing was started. Repeat the request after Retry-After.',
  },
  unavailable: {
    status: 503,
    title: 'Temporal, a worker or the storage cannot be reached',
    advice:
      'Running jobs continue. Try again after Retry-After; repeat a kickoff with its Idempotency-Key, so that it starts once.',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemType = keyof typeof PROBLEMS;

export const PROBLEM_TYPES = Object.keys(PROBLEMS) as [ProblemType, ...ProblemType[]];

/** RFC 9457, section 3.1.1. */
export function problemUri(type: ProblemType): string {
  return `/problems/${type}`;
}

export function isRetryableProblem(type: ProblemType): boolean {
  return [429, 503].includes(PROBLEMS[type].status);
}

export interface RequestError {
  /** Location, e.g. `body.reason`, `query.limit`. */
  at: string;
  detail: string;
}

export interface ProblemOptions {
  errors?: RequestError[];
  headers?: Record<string, string> | undefined;
  members?: Record<string, unknown>;
  cause?: unknown;
}

/** A request that can't be served. Routes throw it. */
export class Problem extends Error {
  override name = 'Problem';

  /** @param message becomes `detail`: location, expected and actual value */
  constructor(
    readonly type: ProblemType,
    message: string,
    readonly options: ProblemOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
  }
}

/** Maps one kind of the engine's errors to an unusual problem type. Other errors pass through. */
export function asProblem(error: unknown, kind: ErrorKind, type: ProblemType): unknown {
  return isKind(error, kind) ? new Problem(type, error.message, { cause: error }) : error;
}

/** Problem types of the engine's errors. Other kinds are `internal`. */
const TYPE_BY_KIND: Partial<Record<ErrorKind, ProblemType>> = {
  invalid_arguments: 'invalid-arguments',
  unknown_tool: 'unknown-tool',
  not_found: 'job-not-found',
  forbidden: 'not-allowed',
  expired: 'job-expired',
  conflict: 'idempotency-key-reused',
  wrong_state: 'wrong-state',
  invalid_answer: 'invalid-answer',
  too_large: 'too-large',
  rate_limited: 'rate-limited',
  busy: 'queue-full',
  unavailable: 'unavailable',
};

/** Retry-After where the error has none, e.g. while Temporal can't be reached, in seconds. */
const UNAVAILABLE_RETRY_SECONDS = 5;

export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const lost = lostValueIn(error);
  if (lost) return new Problem('value-lost', lost.message, { cause: error });
  if (error instanceof LonghaulError) {
    const { kind, message, retryable, retryAfterSeconds = UNAVAILABLE_RETRY_SECONDS } = error;
    const type = kind === 'unavailable' && !retryable ? 'not-supported' : TYPE_BY_KIND[kind];
    const headers =
      type && isRetryableProblem(type) ? { 'Retry-After': String(retryAfterSeconds) } : undefined;
    if (type) return new Problem(type, message, { headers, cause: error });
  }
  return new Problem('internal', "the request failed; the server's log has the reason", { cause: error });
}

const PROBLEM_CONTENT_TYPE = 'application/problem+json';

/** RFC 9457, section 3. @param instance the request's path */
function problemDocument({ type, message, options }: Problem, instance: string): object {
  const { status, title } = PROBLEMS[type];
  const { errors, members } = options;
  return {
    type: problemUri(type),
    title,
    status,
    detail: message,
    instance,
    retryable: isRetryableProblem(type),
    errors,
    ...members,
  };
}

export function renderProblem(c: Context, problem: Problem): Response {
  // A Host header that isn't a host makes the URL invalid.
  const path = URL.canParse(c.req.url) ? new URL(c.req.url).pathname : c.req.path;
  const document = problemDocument(problem, path);
  return c.body(JSON.stringify(document), PROBLEMS[problem.type].status, {
    'Content-Type': PROBLEM_CONTENT_TYPE,
    'Cache-Control': 'no-store',
    ...problem.options.headers,
  });
}

/** How long a client gets to finish writing, in milliseconds. */
const DRAIN_MS = 2_000;

/**
 * Answers requests that Node's HTTP parser rejects before routing. By default Node answers with a bare status and closes, which a
 * client that is still writing sees as a broken connection. So this reads and drops the rest of the request.
 */
export function answerParseErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const problem = parseProblem(error);
    const { status } = PROBLEMS[problem.type];
    const body = JSON.stringify(problemDocument(problem, ''));
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `Content-Type: ${PROBLEM_CONTENT_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'X-Content-Type-Options: nosniff',
      'Connection: close',
    ];
    socket.removeAllListeners('data');
    socket.on('data', () => undefined);
    socket.resume();
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    setTimeout(() => socket.destroy(), DRAIN_MS).unref();
  });
}

function parseProblem({ code, message }: NodeJS.ErrnoException): Problem {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Problem('headers-too-large', 'expected at most 16 KiB of address and headers; got more');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Problem(
      'request-timeout',
      'expected headers and body within the time-outs of docs/limits.md; got a part',
    );
  return new Problem('invalid-request', `expected a request of HTTP/1.1; ${message}`);
}
