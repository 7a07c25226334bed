/** The request, or attempt of an activity, that the current code works for. Gives log lines their fields and spans their parent. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { defined } from '../../operations/json/defined.js';
import { isToken } from '../../operations/token.js';
import type { TraceContext } from '../../operations/wire/trace-context.js';
import { hasCredential } from './credential-form.js';
import type { Span } from './tracing/types.js';

export interface WorkContext {
  /** ID of the HTTP request (X-Request-Id). An activity has the ID of the request that started its operation. */
  requestId?: string;
  /** ID of the JSON-RPC request. */
  rpcId?: string | number;
  principal?: string;
  tool?: string;
  /** The operation's token. */
  token?: string;
  /** The trace, and the parent span for this work. */
  trace?: TraceContext;
  /** The span of this work, while it is recorded. */
  span?: Span;
  /** Context of the HTTP request, for the protocols in it. */
  http?: { trace: TraceContext | undefined };
  /** Set when the work ends. What it started in the background for others doesn't belong to it. */
  isOver?: boolean;
}

const storage = new AsyncLocalStorage<WorkContext>();

/** The current work; undefined outside of any, and once it has ended. */
export function currentWork(): WorkContext | undefined {
  const work = storage.getStore();
  return work?.isOver ? undefined : work;
}

export function inWork<T>(work: WorkContext, run: () => T): T {
  return storage.run(work, run);
}

/** Adds new facts to the current work. A second operation doesn't replace the first. */
export function noteWork({ token, ...fields }: Pick<WorkContext, 'principal' | 'tool' | 'token'>): void {
  const work = currentWork();
  if (!work) return;
  Object.assign(work, fields);
  if (token !== undefined && isToken(token) && !hasCredential(token)) work.token ??= token;
}

type LogFields = Partial<Record<string, string | number>>;

/** Fields of log lines about a work. Trace fields have OpenTelemetry's names for log lines. */
export function logFields(work: WorkContext): LogFields {
  const { requestId, rpcId, principal, tool, token, trace } = work;
  const { traceId, spanId } = trace ?? {};
  return defined({ requestId, rpcId, principal, tool, token, trace_id: traceId, span_id: spanId });
}

export function currentLogFields(): LogFields {
  const work = currentWork();
  return work ? logFields(work) : {};
}
