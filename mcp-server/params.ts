/** Checks fields of requests that the SDKs don't know. Wrong ones are -32602, and unknown ones where the schema is strict. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { z } from 'zod';

/** @throws ProtocolError -32602 that names the field, also an unknown one of a strict object */
export function parseParams<T extends z.ZodType>(schema: T, value: unknown, where = 'params'): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const field = [where, ...issue.path, ...unknown].join('.');
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${field}: ${issue.message}`);
}
