/** Checking what requests carry that the SDKs don't know; unknown fields are let through, and wrong ones are -32602. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { z } from 'zod';

/** @throws ProtocolError -32602 that names the field */
export function parseParams<T extends z.ZodType>(schema: T, value: unknown, where = 'params'): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${[where, ...path].join('.')}: ${message}`);
}
