/** Request bodies: limits for every route, and validation for custom methods, which the OpenAPI library can't route. */
import type { z } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { JsonRefusal, parseJson } from '../json/index.js';
import { Problem, type RequestError } from './rendering/problems.js';

/** Longest detail of one error, in characters. A detail may name thousands of unknown fields. */
const LONGEST_DETAIL = 500;
const JSON_TYPE = /^application\/([a-z.-]+\+)?json\s*(;|$)/i;

/**
 * Prepares a body for the OpenAPI library. An empty body counts as none, whatever its Content-Type: generated clients and curl set
 * one. Refuses JSON that no route accepts.
 *
 * @throws Problem `too-large`, `invalid-json`, `invalid-request`
 */
export const prepareBody: MiddlewareHandler = async (c, next) => {
  const bytes = c.req.raw.body === null ? new Uint8Array() : new Uint8Array(await c.req.arrayBuffer());
  const type = c.req.header('content-type');
  if (bytes.length === 0 && type !== undefined) {
    const { url, method, signal } = c.req.raw;
    const headers = new Headers(c.req.raw.headers);
    headers.delete('content-type');
    c.req.raw = new Request(url, { method, headers, signal });
  } else if (JSON_TYPE.test(type ?? '')) {
    try {
      parseJson(bytes);
    } catch (error) {
      if (!(error instanceof JsonRefusal)) throw error;
      const { kind, message, path } = error;
      if (kind === 'too_large') throw new Problem('too-large', `body: ${message}`, { cause: error });
      if (kind === 'encoding') throw new Problem('invalid-json', `body: ${message}`, { cause: error });
      // The route gets malformed JSON, since it may not expect JSON.
      if (kind === 'surrogate' || kind === 'number')
        throw invalidRequest('json', [{ path: [...path], message }]);
    }
  }
  return next();
};

/** No body counts as an empty object. @throws Problem `unsupported-media-type`, `invalid-json`, `invalid-request` */
export async function readBody<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  const text = await c.req.text();
  const type = c.req.header('content-type');
  if (type === undefined ? text !== '' : !JSON_TYPE.test(type))
    throw new Problem(
      'unsupported-media-type',
      `Content-Type: expected application/json; got ${type ?? 'none'}`,
    );
  let body: unknown = {};
  try {
    if (text !== '' || type !== undefined) body = JSON.parse(text);
  } catch (error) {
    throw new Problem('invalid-json', `body: expected JSON; ${(error as Error).message}`, { cause: error });
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw invalidRequest('json', parsed.error.issues);
}

/** Lists schema violations by location, e.g. `query.limit`. @param target the library's name for the part of the request */
export function invalidRequest(
  target: string,
  issues: readonly { path: PropertyKey[]; message: string }[],
): Problem {
  const where = target === 'json' ? 'body' : target;
  const errors: RequestError[] = issues.map(({ path, message }) => ({
    at: [where, ...path.map(String)].join('.'),
    detail: message.length > LONGEST_DETAIL ? `${message.slice(0, LONGEST_DETAIL)}...` : message,
  }));
  return new Problem('invalid-request', errors.map(({ at, detail }) => `${at}: ${detail}`).join('\n'), {
    errors,
  });
}
