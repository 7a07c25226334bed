/**
 * Span of one attempt of an activity. Its ID derives from the attempt, so a worker that reports the outcome in another's place
 * ends the same span.
 */
import {
  formatTrace,
  parseCarrier,
  type TraceCarrier,
  type TraceContext,
} from '../../operations/wire/trace-context.js';
import { spanIdOf, tracing, type SpanAttributes } from '../../platform/observe/tracing/index.js';

/** An attempt's span on disk. Fields are added, never renamed, because other releases read them. */
export interface AttemptRecord extends TraceCarrier {
  /** E.g. `RunActivity:runPipelineStep`. */
  name: string;
  parentSpanId: string;
  /** Epoch milliseconds. */
  startMs: number;
  attributes: SpanAttributes;
}

export interface AttemptEnd {
  outcome: 'completed' | 'failed' | 'canceled';
  /** Type of the failure, if it counts as one. */
  failure?: string | undefined;
}

/** @param runId of the workflow */
export function runSpanId(runId: string): string {
  return spanIdOf('run', runId);
}

/** @returns undefined if it wouldn't be recorded */
export function attemptRecord(
  name: string,
  trace: TraceContext,
  { runId, activityId, attempt }: { runId: string; activityId: string; attempt: number },
  startMs: number,
  attributes: SpanAttributes,
): AttemptRecord | undefined {
  if (!tracing() || !trace.isSampled) return undefined;
  const spanId = spanIdOf('activity', runId, activityId, attempt);
  return { ...formatTrace({ ...trace, spanId }), name, parentSpanId: runSpanId(runId), startMs, attributes };
}

/** Exports an ended attempt's span. @param atMs epoch milliseconds. Default: now */
export function endAttempt(
  record: AttemptRecord,
  { outcome, failure }: AttemptEnd,
  attributes: SpanAttributes = {},
  atMs?: number,
): void {
  const context = parseCarrier(record);
  if (!context) return;
  const { name, parentSpanId, startMs } = record;
  const span = tracing()?.startSpan(name, {
    kind: 'server',
    parent: { ...context, spanId: parentSpanId },
    spanId: context.spanId,
    startMs,
    attributes: { ...record.attributes, ...attributes, 'longhaul.outcome': outcome },
  });
  if (failure !== undefined) span?.fail(failure);
  span?.end(atMs);
}
