/** Request bodies, and requests that don't match their schema. */
import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { JsonRefusal, parseJson } from '../json/index.js';
import { Problem, type RequestError } from './rendering/problems.js';

/** Longest detail of one error, in characters. A detail may name thousands of unknown fields. */
const LONGEST_DETAIL = 500;
const JSON_TYPE = /^application\/([a-z.-]+\+)?json\s*(;|$)/i;

/**
 * An empty body counts as an empty object, whatever its Content-Type: generated clients and curl set one.
 *
 * @throws Problem `unsupported-media-type`, `invalid-json`, `too-large`, `invalid-request`
 */
export async function readBody<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  const bytes = new Uint8Array(await c.req.arrayBuffer());
  const parsed = schema.safeParse(bytes.length === 0 ? {} : parseBody(bytes, c.req.header('content-type')));
  if (parsed.success) return parsed.data;
  throw invalidRequest('body', parsed.error.issues);
}

function parseBody(bytes: Uint8Array, type = ''): unknown {
  if (!JSON_TYPE.test(type))
    throw new Problem(
      'unsupported-media-type',
      `Content-Type: expected application/json; got ${type || 'none'}`,
    );
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonRefusal)) throw error;
    const { kind, message, path } = error;
    if (kind === 'surrogate' || kind === 'number')
      throw invalidRequest('body', [{ path: [...path], message }]);
    if (kind === 'syntax')
      throw new Problem('invalid-json', `body: expected JSON; ${message}`, { cause: error });
    throw new Problem(kind === 'too_large' ? 'too-large' : 'invalid-json', `body: ${message}`, {
      cause: error,
    });
  }
}

/** Lists schema violations by location, e.g. `query.limit`. @param where e.g. `body` */
export function invalidRequest(
  where: string,
  issues: readonly { path: PropertyKey[]; message: string }[],
): Problem {
  const errors: RequestError[] = issues.map(({ path, message }) => ({
    at: [where, ...path.map(String)].join('.'),
    detail: message.length > LONGEST_DETAIL ? `${message.slice(0, LONGEST_DETAIL)}...` : message,
  }));
  return new Problem('invalid-request', errors.map(({ at, detail }) => `${at}: ${detail}`).join('\n'), {
    errors,
  });
}
