/**
 * Mcp-Name on tasks/* requests. The tasks extension requires it (specs: ext-tasks, "Streamable HTTP: Routing Headers"), and the SDK
 * refuses requests without it. Some clients omit it, but the body names the task anyway.
 */
const TASK_METHODS: ReadonlySet<unknown> = new Set(['tasks/get', 'tasks/update', 'tasks/cancel']);

/**
 * Adds a missing header to a tasks/* request, from `params.taskId`. Leaves a present header for the SDK to compare with the body.
 *
 * @param request its body may have been read
 * @param body the parsed body, as received
 * @returns `request`, or one with the same URL, headers and abort signal, the added header, and no body
 */
export function withTaskName(request: Request, body: unknown): Request {
  if (request.headers.has('mcp-name')) return request;
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { taskId?: unknown } | null };
  const taskId = params?.taskId;
  if (!TASK_METHODS.has(method) || typeof taskId !== 'string') return request;
  const headers = new Headers(request.headers);
  headers.set('mcp-name', encodedName(taskId));
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}

/** The Base64 sentinel format, which encodes any text (specs: 2026-07-28 streamable-http, "Value Encoding"). */
export function encodedName(value: string): string {
  return `=?base64?${Buffer.from(value).toString('base64')}?=`;
}
