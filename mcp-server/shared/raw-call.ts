/** Messages as clients of SEP-1391 write them, before an SDK sees them. */

/**
 * The call with `params.request` unfolded: the document's example puts name and arguments in there, beside `operation`,
 * while its schema has them in `params`. Everything else is passed through.
 */
export function withoutNesting<T>(message: T): T {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: Record<string, unknown> };
  if (method !== 'tools/call' || typeof params !== 'object' || params === null) return message;
  const { request, ...rest } = params;
  if (rest['name'] !== undefined || typeof request !== 'object' || request === null) return message;
  return { ...message, params: { ...request, ...rest } };
}

/** The token that a message carries in `_operation`; undefined when it carries none, or no text. */
export function operationTokenOf(fields: unknown): string | undefined {
  const { _operation } = (fields ?? {}) as { _operation?: { token?: unknown } | null };
  const token = typeof _operation === 'object' ? _operation?.token : undefined;
  return typeof token === 'string' ? token : undefined;
}
