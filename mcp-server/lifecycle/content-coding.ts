/** Refuses bodies in a content coding such as gzip, which the server doesn't decode. */
import type { Context, MiddlewareHandler } from 'hono';

/** Methods whose content has no meaning (RFC 9110, section 9.3). */
const WITHOUT_CONTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Middleware that refuses such a request with 415 and `Accept-Encoding` (RFC 9110, sections 12.5.3 and 15.5.16).
 *
 * @param refuse makes the response with the message `detail`
 */
export function withoutContentCoding(refuse: (c: Context, detail: string) => Response): MiddlewareHandler {
  return (c, next) => {
    const coding = c.req.header('content-encoding')?.trim() ?? '';
    if (WITHOUT_CONTENT.has(c.req.method) || /^(identity)?$/i.test(coding)) return next();
    c.header('Accept-Encoding', 'identity');
    return Promise.resolve(refuse(c, `Content-Encoding: expected none; got ${coding}`));
  };
}
