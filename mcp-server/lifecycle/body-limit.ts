/**
 * The limit of a request's body. Hono's own leaves the rest of a large body unread, and a client that still writes
 * then sees a broken connection instead of the answer; and it opens the body of every request to look at it.
 */
import type { Context, MiddlewareHandler } from 'hono';

/** How much of a body that is refused is read and dropped, as a multiple of the limit. */
const DRAIN_FACTOR = 16;

/**
 * Refuses bodies over a limit, without holding them in memory.
 *
 * @param refuse makes the answer; sent once the client has finished writing, or has written far too much
 */
export function bodyLimit(limitBytes: number, refuse: (c: Context) => Response): MiddlewareHandler {
  return async (c, next) => {
    const length = c.req.header('content-length');
    // Node's parser holds a body to the length that it declares.
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
    // Also when nothing came: a body can be read once.
    c.req.raw = new Request(c.req.raw, { body: Buffer.concat(chunks) });
    return next();
  };
}
