/** Spans of workflows and activity attempts, made outside of the sandbox from the context in Temporal's headers. */
import type { Info } from '@temporalio/activity';
import {
  ApplicationFailure,
  ApplicationFailureCategory,
  CancelledFailure,
  defaultPayloadConverter,
  type Headers,
  type Payload,
} from '@temporalio/common';
import type { InjectedSinks } from '@temporalio/worker';
import type { WorkflowInfo } from '@temporalio/workflow';
import {
  attemptRecord,
  runSpanId,
  type AttemptEnd,
  type AttemptRecord,
} from '../../activities/runtime/attempt-span.js';
import { parseCarrier, type TraceCarrier, type TraceContext } from '../../operations/wire/trace-context.js';
import { TRACE_SINK, type RunOutcome, type TraceSinks } from '../../operations/sinks.js';
import {
  PART_MEMO,
  START_MEMO,
  tokenOf,
  TRACE_HEADER,
  type PartMemo,
  type StartMemo,
} from '../../operations/wire/index.js';
import { tracing, type SpanAttributes } from '../../platform/observe/tracing/index.js';

export interface AttemptTrace {
  /** Parent of the attempt's work: its own span if that is recorded, else the context of the start. */
  trace: TraceContext | undefined;
  record: AttemptRecord | undefined;
}

export function attemptTrace(headers: Headers, info: Info, fields: SpanAttributes): AttemptTrace {
  const trace = contextIn(headers[TRACE_HEADER]);
  const { workflowExecution, activityType, activityId, attempt, taskQueue } = info;
  if (!trace || !workflowExecution) return { trace, record: undefined };
  const { workflowId, runId } = workflowExecution;
  const startMs = Date.now();
  const record = attemptRecord(
    `RunActivity:${activityType}`,
    trace,
    { runId, activityId, attempt },
    startMs,
    {
      temporalWorkflowID: workflowId,
      temporalRunID: runId,
      temporalActivityID: activityId,
      'longhaul.attempt': attempt,
      'longhaul.task_queue': taskQueue,
      'longhaul.queued_ms': Math.max(0, startMs - info.currentAttemptScheduledTimestampMs),
      ...fields,
    },
  );
  return { trace: parseCarrier(record) ?? trace, record };
}

export function isCancel(error: unknown): boolean {
  return error instanceof CancelledFailure || (error as Error | undefined)?.name === 'AbortError';
}

export function isBenign(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.category === ApplicationFailureCategory.BENIGN;
}

export function failedEnd(error: unknown): AttemptEnd {
  if (isCancel(error)) return { outcome: 'canceled' };
  const type = error instanceof ApplicationFailure ? error.type : undefined;
  const failure = type ?? (error instanceof Error ? error.name : '_OTHER');
  return { outcome: 'failed', failure: isBenign(error) ? undefined : failure };
}

/** Receives the ends of runs and of messages to them from workflow code. */
export function traceSinks(): InjectedSinks<TraceSinks> {
  return {
    [TRACE_SINK]: {
      runEnded: { fn: runEnded },
      messageHandled: { fn: messageHandled },
    },
  };
}

/** A run's span is exported when the run ends. Its ID is known earlier, to the run's activities and child workflows. */
function runEnded(info: WorkflowInfo, header: Payload, outcome: RunOutcome): void {
  const start = contextIn(header);
  if (!start) return;
  const { workflowType, runId, parent, continuedFromExecutionRunId, runStartTime } = info;
  const span = tracing()?.startSpan(`RunWorkflow:${workflowType}`, {
    kind: 'server',
    parent: parent ? { ...start, spanId: runSpanId(parent.runId) } : start,
    spanId: runSpanId(runId),
    startMs: runStartTime.getTime(),
    links: continuedFromExecutionRunId ? [{ ...start, spanId: runSpanId(continuedFromExecutionRunId) }] : [],
    attributes: { ...attributesOf(info), 'longhaul.outcome': outcome },
  });
  if (outcome === 'failed') span?.fail('WorkflowFailed');
  span?.end();
}

function messageHandled(
  info: WorkflowInfo,
  header: Payload,
  name: string,
  beganMs: number,
  isFailed: boolean,
): void {
  const sender = contextIn(header);
  const span =
    sender &&
    tracing()?.startSpan(name, {
      kind: 'server',
      parent: sender,
      startMs: beganMs,
      links: linksToRun(info),
      attributes: attributesOf(info),
    });
  if (isFailed) span?.fail('MessageFailed');
  span?.end();
}

/** The sender's trace may differ from the operation's. */
function linksToRun({ memo, runId }: WorkflowInfo): TraceContext[] {
  const { traceparent } = memoOf(memo);
  const start = parseCarrier(traceparent === undefined ? undefined : { traceparent });
  return start ? [{ ...start, spanId: runSpanId(runId) }] : [];
}

function attributesOf({ workflowId, runId, taskQueue, memo }: WorkflowInfo): SpanAttributes {
  const { token, tool, principal } = { token: undefined, principal: undefined, ...memoOf(memo) };
  return {
    temporalWorkflowID: workflowId,
    temporalRunID: runId,
    'longhaul.task_queue': taskQueue,
    'longhaul.token': token ?? (principal === undefined ? undefined : tokenOf(principal, workflowId)),
    'longhaul.tool': tool,
  };
}

function memoOf(memo: WorkflowInfo['memo']): Partial<PartMemo> | Partial<StartMemo> {
  return (memo?.[PART_MEMO] as PartMemo | undefined) ?? (memo?.[START_MEMO] as StartMemo | undefined) ?? {};
}

/** Undefined for anything but a context: headers may come from any client. */
function contextIn(header: Payload | undefined): TraceContext | undefined {
  try {
    return header && parseCarrier(defaultPayloadConverter.fromPayload<TraceCarrier>(header));
  } catch {
    return undefined;
  }
}
