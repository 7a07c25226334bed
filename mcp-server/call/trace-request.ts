/**
 * An MCP request as a span and as its log lines' context, in all revisions and transports. Names follow OpenTelemetry's semantic
 * conventions for MCP. Neither has arguments, results or error messages.
 */
import { ERROR_META_KEY } from '../../operations/wire/meta-keys.js';
import { parseTrace, TRACEPARENT, TRACESTATE } from '../../operations/wire/trace-context.js';
import { hasCredential } from '../../platform/observe/credential-form.js';
import type { Logger } from '../../platform/observe/log.js';
import { tracing, type SpanAttributes } from '../../platform/observe/tracing/index.js';
import { currentWork, inWork, type WorkContext } from '../../platform/observe/work-context.js';

export interface TracedRequest {
  method: string;
  id: string | number | undefined;
  meta: Readonly<Record<string, unknown>> | undefined;
  /** Name of the called tool, if the caller has one of that name. */
  tool: string | undefined;
  revision: string;
  transport: 'http' | 'stdio';
  principal: string;
}

export interface RequestFailure {
  /** JSON-RPC code. Undefined where the result says that the tool failed. */
  code?: number;
  kind?: unknown;
  /** An error that no protocol defines. */
  defect?: unknown;
}

const INTERNAL_ERROR = -32603;
/** Kinds of errors that callers can't have caused. */
const OUR_KINDS: ReadonlySet<unknown> = new Set(['unavailable', 'internal']);
/** A JSON-RPC ID that log lines can hold. */
const RPC_ID = /^[\w.:+/=@~-]{1,128}$/;

/** @param failureOf how a response says that it is an error. Default: as tool results do */
export async function traceRequest<Response extends object>(
  request: TracedRequest,
  logger: Logger,
  handle: () => Promise<Response>,
  failureOf: (response: Response) => RequestFailure | undefined = failureInResult,
): Promise<Response> {
  const work = workOf(request);
  const { span } = work;
  const beganMs = performance.now();
  return inWork(work, async () => {
    let failure: RequestFailure | undefined;
    try {
      const response = await handle();
      failure = failureOf(response);
      return response;
    } catch (error) {
      failure = failureInError(error);
      throw error;
    } finally {
      if (failure) span?.fail(String(failure.code ?? 'tool_error'));
      span?.set({
        'rpc.response.status_code': failure?.code === undefined ? undefined : String(failure.code),
        'longhaul.error_kind': typeof failure?.kind === 'string' ? failure.kind : undefined,
        'gen_ai.tool.name': work.tool,
        'longhaul.token': work.token,
      });
      span?.end();
      log(logger, request.method, failure, performance.now() - beganMs);
      work.isOver = true;
    }
  });
}

function workOf({ method, id, meta, tool, revision, transport, principal }: TracedRequest): WorkContext {
  const { requestId, http } = currentWork() ?? {};
  const own = parseTrace(meta?.[TRACEPARENT], meta?.[TRACESTATE]);
  // The message's own context is closer: a connection's context is its sender's.
  const parent = own ?? http?.trace;
  const rpcId = typeof id === 'string' && (!RPC_ID.test(id) || hasCredential(id)) ? undefined : id;
  const attributes: SpanAttributes = {
    'mcp.method.name': method,
    'mcp.protocol.version': revision,
    'jsonrpc.request.id': rpcId === undefined ? undefined : String(rpcId),
    'gen_ai.operation.name': method === 'tools/call' ? 'execute_tool' : undefined,
    'network.transport': transport === 'http' ? 'tcp' : 'pipe',
    'network.protocol.name': transport === 'http' ? 'http' : undefined,
  };
  const span = tracing()?.startSpan(tool === undefined ? method : `${method} ${tool}`, {
    kind: 'server',
    parent,
    links: own && http?.trace ? [http.trace] : [],
    attributes,
  });
  return {
    // Over stdio the ID on the connection is the only one.
    requestId: requestId ?? (rpcId === undefined ? undefined : String(rpcId)),
    rpcId,
    principal,
    tool,
    span,
    trace: span?.context ?? parent,
  };
}

function failureInResult(result: object): RequestFailure | undefined {
  const { isError, _meta } = result as { isError?: boolean; _meta?: Record<string, unknown> };
  if (isError !== true) return undefined;
  return { kind: (_meta?.[ERROR_META_KEY] as { kind?: unknown } | undefined)?.kind };
}

function failureInError(error: unknown): RequestFailure {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { kind?: unknown } };
  if (typeof code === 'number') return { code, kind: data?.kind };
  return { code: INTERNAL_ERROR, defect: error };
}

function log(logger: Logger, method: string, failure: RequestFailure | undefined, durationMs: number): void {
  const fields = { method, durationMs: Math.round(durationMs) };
  if (!failure) return logger.debug(fields, 'MCP request');
  const { code, kind, defect } = failure;
  if (defect !== undefined) return logger.error({ ...fields, err: defect }, 'a request failed');
  const isOurs = OUR_KINDS.has(kind) || (code === INTERNAL_ERROR && kind === undefined);
  logger[isOurs ? 'warn' : 'debug']({ ...fields, code, kind }, isOurs ? 'a request failed' : 'MCP request');
}
