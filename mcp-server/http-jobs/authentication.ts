/** Problems of requests without a valid credential. */
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import { RETRY_AFTER_SECONDS } from '../lifecycle/shutdown.js';
import { RateLimited } from '../limits/index.js';
import { Problem, type ProblemType } from './problems.js';
import { toProblem } from './render-problem.js';

/**
 * The problem for an error of authentication.
 *
 * @param challenge the response for it, whose WWW-Authenticate is taken over
 */
export function authenticationProblem(error: unknown, challenge: Response): Problem {
  if (error instanceof RateLimited) return toProblem(error);
  const value = challenge.headers.get('WWW-Authenticate');
  const headers = value === null ? {} : { 'WWW-Authenticate': value };
  if (!(error instanceof OAuthError))
    return new Problem('unavailable', (error as Error).message, {
      headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    });
  return new Problem(PROBLEM_TYPES[error.code] ?? 'unauthenticated', error.message, { headers });
}

const PROBLEM_TYPES: Record<string, ProblemType> = {
  [OAuthErrorCode.InsufficientScope]: 'insufficient-scope',
  [OAuthErrorCode.AccessDenied]: 'certificate-required',
};
