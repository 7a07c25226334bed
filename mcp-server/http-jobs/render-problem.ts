/** Renders errors as problem documents. */
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { LonghaulError, type ErrorKind } from '../../operations/errors.js';
import { lostValueIn } from '../../platform/storage/index.js';
import { isRetryableProblem, Problem, PROBLEMS, problemUri, type ProblemType } from './problems.js';

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
};

/** Retry-After while Temporal can't be reached, in seconds. */
const UNAVAILABLE_RETRY_SECONDS = 5;

export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const lost = lostValueIn(error);
  if (lost) return new Problem('value-lost', lost.message, { cause: error });
  if (error instanceof LonghaulError) {
    if (error.kind === 'unavailable')
      return error.retryable
        ? new Problem('unavailable', error.message, {
            headers: { 'Retry-After': String(UNAVAILABLE_RETRY_SECONDS) },
            cause: error,
          })
        : new Problem('not-supported', error.message, { cause: error });
    if (error.kind === 'rate_limited' || error.kind === 'busy')
      return new Problem(error.kind === 'busy' ? 'queue-full' : 'rate-limited', error.message, {
        headers: { 'Retry-After': String(error.retryAfterSeconds ?? UNAVAILABLE_RETRY_SECONDS) },
        cause: error,
      });
    const type = TYPE_BY_KIND[error.kind];
    if (type) return new Problem(type, error.message, { cause: error });
  }
  if (error instanceof HTTPException && error.status === 400)
    return new Problem('invalid-json', `body: expected JSON; ${error.message}`, { cause: error });
  if (error instanceof HTTPException && error.status === 415)
    return new Problem('unsupported-media-type', 'Content-Type: expected application/json', { cause: error });
  return new Problem('internal', "the request failed; the server's log has the reason", { cause: error });
}

export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

/** RFC 9457, section 3. @param instance the request's path */
export function problemDocument({ type, message, options }: Problem, instance: string): object {
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
