/**
 * Answers `tasks/get` over HTTP, the clients' poll, without an SDK Server: creating one takes as much CPU as the read. The SDK
 * handles anything unusual, and words the errors.
 */
import {
  classifyInboundRequest,
  isJsonContentType,
  ProtocolError,
  ProtocolErrorCode,
  SERVER_INFO_META_KEY,
  type RequestId,
  type Result,
} from '@modelcontextprotocol/server';
import type { Guard } from '../../guard.js';
import type { Shutdown } from '../../shutdown/index.js';
import { noteRpcError } from '../../metrics/requests.js';
import { SERVER_INFO } from '../../call/identity.js';
import { linkTransform } from '../../links/links-as-text.js';
import { rpcErrorOf } from '../../call/protocol-error.js';
import type { Serving } from '../../call/serving.js';
import type { RequestFailure } from '../../call/trace-request.js';
import { traceMessage } from '../../revisions/methods.js';
import { getTask } from './handlers.js';
import { capabilitiesOf, clientNameOf, taskParams } from './schemas.js';

const METHOD = 'tasks/get';
const VERSION = '2026-07-28';

export interface Poll {
  id: RequestId;
  taskId: string;
  meta: Record<string, unknown>;
}

export interface PollAnswer {
  httpStatus: 200 | 400;
  message: object;
}

/**
 * The request, if it is a valid `tasks/get` of 2026-07-28 with headers that match the body (specs: 2026-07-28 streamable-http,
 * "Request Headers"). Undefined for any other.
 *
 * @param body as parsed
 */
export function pollIn(headers: Headers, body: unknown): Poll | undefined {
  if (headers.get('mcp-method') !== METHOD || headers.get('mcp-protocol-version') !== VERSION)
    return undefined;
  if (!isJsonContentType(headers.get('content-type'))) return undefined;
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    body,
    mcpMethodHeader: METHOD,
    protocolVersionHeader: VERSION,
  });
  if (outcome.kind !== 'modern' || outcome.messageKind !== 'request') return undefined;
  const { id, params } = outcome.message;
  const parsed = taskParams.safeParse(params);
  if (!parsed.success || !namesTask(headers.get('mcp-name'), parsed.data.taskId)) return undefined;
  return { id, taskId: parsed.data.taskId, meta: params!._meta! };
}

/** Whether an Mcp-Name header names this task. Clients may omit it. */
function namesTask(name: string | null, taskId: string): boolean {
  return name === null || name === encodedName(taskId) || (name === taskId && !name.startsWith('=?'));
}

export function answerPoll(
  engine: Guard,
  serving: Serving,
  shutdown: Shutdown,
  { id, taskId, meta }: Poll,
): Promise<PollAnswer> {
  const read = async (): Promise<PollAnswer> => {
    try {
      const task = await shutdown.track(getTask(engine, taskId, capabilitiesOf(meta)));
      const result: Result = linkTransform(serving.resourceLinks, clientNameOf(meta))(task);
      const stamped = { ...result, _meta: { ...result._meta, [SERVER_INFO_META_KEY]: SERVER_INFO } };
      return { httpStatus: 200, message: { jsonrpc: '2.0', id, result: stamped } };
    } catch (error) {
      noteRpcError();
      const isForbidden =
        error instanceof ProtocolError && error.code === ProtocolErrorCode.MissingRequiredClientCapability;
      return {
        httpStatus: isForbidden ? 400 : 200,
        message: { jsonrpc: '2.0', id, error: rpcErrorOf(error) },
      };
    }
  };
  const request = { method: METHOD, id, params: { _meta: meta } };
  return traceMessage(
    { engine, serving, revision: VERSION },
    request,
    read,
    ({ message }) => (message as { error?: RequestFailure }).error,
  );
}

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
