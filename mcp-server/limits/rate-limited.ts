/** The refusal of a request beyond a limit. */
import { LonghaulError } from '../../operations/errors.js';

/** State of a rate after a request (draft-ietf-httpapi-ratelimit-headers-10). */
export interface Quota {
  limit: number;
  remaining: number;
  resetSeconds: number;
}

export class RateLimited extends LonghaulError {
  override name = 'RateLimited';

  /**
   * @param message the limit's name and what it allows
   * @param retryAfterSeconds when the request may succeed
   * @param quota the caller's, if a rate was exceeded
   */
  constructor(
    message: string,
    override readonly retryAfterSeconds: number,
    readonly quota?: Quota,
  ) {
    super('rate_limited', `${message}; try again in ${retryAfterSeconds} s`, { retryAfterSeconds });
  }
}
