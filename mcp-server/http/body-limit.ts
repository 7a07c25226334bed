/**
 * Body size limit. Unlike Hono's, it drains the rest of a large body, so a client that is still writing gets the answer, not a
 * broken connection. It doesn't read bodies with a declared length within the limit.
 */
import type { Context, MiddlewareHandler } from 'hono';

/** How much of a refused body is drained, as a multiple of the limit. */
const DRAIN_FACTOR = 16;

/**
 * Middleware that refuses bodies over a limit without buffering them.
 *
 * @param refuse makes the response, which is sent once the client has finished writing, or has written {@link DRAIN_FACTOR} times
 *   the limit
 */
export function bodyLimit(limitBytes: number, refuse: (c: Context) => Response): MiddlewareHandler {
  return async (c, next) => {
    const length = c.req.header('content-length');
    // Node's parser enforces the declared length.
    if (length !== undefined && Number(length) <= limitBytes) return next();
    const { body } = c.req.raw;
    if (body === null) return next();
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes <= limitBytes) chunks.push(chunk);
      else if (bytes > limitBytes * DRAIN_FACTOR) break;
    }
    if (bytes > limitBytes || length !== undefined) {
      c.header('Connection', 'close');
      return refuse(c);
    }
    // Also for an empty body, since a body can be read only once.
    c.req.raw = new Request(c.req.raw, { body: Buffer.concat(chunks) });
    return next();
  };
}

/** Methods whose content has no meaning (RFC 9110, section 9.3). */
const WITHOUT_CONTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Middleware that refuses a body in a content coding such as gzip, which the server doesn't decode, with 415 and `Accept-Encoding`
 * (RFC 9110, sections 12.5.3 and 15.5.16).
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
