/** Validates request fields that the SDKs don't know: -32602 for wrong fields and, in strict schemas, for unknown ones. */
import { z } from 'zod';
import { invalidParams } from './protocol-error.js';

/** The `error` of a zod schema, with the expected form and the actual value. */
export function expected(form: string) {
  return {
    error: ({ code, input }: { code: string; input?: unknown }): string => {
      if (code === 'unrecognized_keys') return `unknown field; expected ${form}`;
      return `expected ${form}; got ${typeof input === 'number' ? String(input) : JSON.stringify(input)}`;
    },
  };
}

/** How long a result stays readable after the end, in seconds. Null: as long as possible. */
const keepAlive = expected('a number of seconds above 0, or null for as long as possible');
export const keepAliveSchema = z.number(keepAlive).gt(0, keepAlive).nullable();

/** @throws ProtocolError -32602 that names the wrong field, or a strict object's unknown field */
export function parseParams<T extends z.ZodType>(schema: T, value: unknown, where = 'params'): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const field = [where, ...issue.path, ...unknown].join('.');
  throw invalidParams(`${field}: ${issue.message}`);
}

/**
 * Refuses a cursor for a list with one page, since none was ever given out (specs: 2026-07-28 server/utilities/pagination, "Error
 * Handling").
 *
 * @param params of the request. A null cursor counts as none
 * @throws ProtocolError -32602
 */
export function assertNoCursor(params: object = {}): void {
  const { cursor } = params as { cursor?: unknown };
  if (cursor !== undefined && cursor !== null)
    throw invalidParams(
      `params.cursor: expected none, since this list has one page; got ${JSON.stringify(cursor)}`,
    );
}

/**
 * Converts an error of the SDK's own schema to the form of {@link parseParams}. Other errors pass through. The SDK checks requests
 * of the methods it knows, and its messages have all of zod's issues as JSON, often without a code.
 */
export function withFirstIssueOnly(error: unknown): unknown {
  const [, json] = /(\[\s*\{\s*"[^]*\])$/.exec((error as Error).message) ?? [];
  try {
    const [first] = JSON.parse(json ?? '[]') as { path: string[]; message: string }[];
    return first ? invalidParams(`${first.path.join('.')}: ${first.message}`) : error;
  } catch {
    return error;
  }
}
