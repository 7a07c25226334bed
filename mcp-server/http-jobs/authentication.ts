/** Problems of requests without a valid credential. */
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import { RETRY_AFTER_SECONDS } from '../lifecycle/shutdown.js';
import { Problem } from './problems.js';

/**
 * The problem for an error of authentication.
 *
 * @param challenge the response for it, whose WWW-Authenticate is taken over
 */
export function authenticationProblem(error: unknown, challenge: Response): Problem {
  const value = challenge.headers.get('WWW-Authenticate');
  const headers = value === null ? {} : { 'WWW-Authenticate': value };
  if (!(error instanceof OAuthError))
    return new Problem('unavailable', (error as Error).message, {
      headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    });
  const type = error.code === OAuthErrorCode.InsufficientScope ? 'insufficient-scope' : 'unauthenticated';
  return new Problem(type, error.message, { headers });
}
