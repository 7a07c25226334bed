/** SEP-1391 fields in raw messages, before an SDK parses them. */

/** Moves a tools/call's `params.request` up: the SEP's example nests name and arguments there, unlike its schema. */
export function withoutNesting<T>(message: T): T {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: Record<string, unknown> };
  if (method !== 'tools/call' || typeof params !== 'object' || params === null) return message;
  const { request, ...rest } = params;
  if (rest['name'] !== undefined || typeof request !== 'object' || request === null) return message;
  return { ...message, params: { ...request, ...rest } };
}

/** The token in a message's `_operation`. Undefined if it isn't a string. */
export function operationTokenOf(fields: unknown): string | undefined {
  const { _operation } = (fields ?? {}) as { _operation?: { token?: unknown } | null };
  const token = typeof _operation === 'object' ? _operation?.token : undefined;
  return typeof token === 'string' ? token : undefined;
}
