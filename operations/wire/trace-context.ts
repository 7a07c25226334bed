/** W3C Trace Context (Level 1): a request's trace, and its position there. */

/** HTTP header, and key of MCP's `_meta` (specs: 2026-07-28 basic, "OpenTelemetry trace context"). */
export const TRACEPARENT = 'traceparent';
export const TRACESTATE = 'tracestate';

export interface TraceContext {
  /** 32 hexadecimal digits, lower case. */
  traceId: string;
  /** 16 hexadecimal digits: the parent span of work in this context. */
  spanId: string;
  isSampled: boolean;
  /** Tracing systems' own fields, passed along unchanged. */
  tracestate?: string;
}

export interface TraceCarrier {
  traceparent: string;
  tracestate?: string;
}

/** Later versions may add fields after the flags. */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;
/** A list of at most 32 members, `key=value`, in printable ASCII. */
const STATE_FORM = /^[!-~]+=[ -~]+$/;
const LONGEST_STATE = 512;

/** Undefined for an invalid traceparent: the request then has no trace. Drops an invalid tracestate. */
export function parseTrace(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string' || traceparent.length > LONGEST_STATE) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', rest] = FORM.exec(traceparent.trim()) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, spanId, isSampled, ...(isState(tracestate) ? { tracestate } : {}) };
}

export function parseCarrier(carrier: Partial<TraceCarrier> | undefined): TraceContext | undefined {
  return parseTrace(carrier?.traceparent, carrier?.tracestate);
}

export function formatTrace({ traceId, spanId, isSampled, tracestate }: TraceContext): TraceCarrier {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
  return { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
}

function isState(value: unknown): value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > LONGEST_STATE) return false;
  const members = value.split(',').map((member) => member.trim());
  return members.length <= 32 && members.every((member) => STATE_FORM.test(member));
}
