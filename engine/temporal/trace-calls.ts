/**
 * Calls to Temporal as spans, and headers of starts, updates and signals: trace context, and those of single calls. Header and span names match Temporal's own
 * OpenTelemetry interceptors, so workers and clients of other SDKs take part.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { defined } from '../../operations/json/defined.js';
import { formatTrace, parseTrace, type TraceContext } from '../../operations/wire/trace-context.js';
import {
  CANCEL_OPERATION_SIGNAL,
  PROVIDE_INPUT_SIGNAL,
  PROVIDE_INPUT_UPDATE,
  START_MEMO,
  TRACE_HEADER,
  type StartMemo,
} from '../../operations/wire/index.js';
import { GRPC, isGrpcError } from '../../platform/temporal/grpc-errors.js';
import { tracing } from '../../platform/observe/tracing/index.js';
import { currentWork } from '../../platform/observe/work-context.js';

const SERVICE = 'temporal.api.workflowservice.v1.WorkflowService';

/** Messages that continue the sender's trace. The mailbox's workflows serve many senders. */
const TRACED_MESSAGES: ReadonlySet<string> = new Set([
  PROVIDE_INPUT_UPDATE.name,
  PROVIDE_INPUT_SIGNAL.name,
  CANCEL_OPERATION_SIGNAL.name,
]);

/**
 * Makes a call to Temporal within a span, if the current request has one.
 *
 * @param name e.g. `StartWorkflow:pipeline`
 * @param method of Temporal's gRPC service
 * @param call gets the context to send: the span's, or else the request's; undefined without a trace
 */
export async function traceCall<T>(
  name: string,
  method: string,
  workflowId: string | undefined,
  call: (context: TraceContext | undefined) => Promise<T>,
): Promise<T> {
  const work = currentWork();
  if (!work?.span?.isRecording) return call(work?.trace);
  const span = tracing()?.startSpan(name, {
    kind: 'client',
    parent: work.trace,
    attributes: {
      'rpc.system.name': 'grpc',
      'rpc.method': `${SERVICE}/${method}`,
      temporalWorkflowID: workflowId,
    },
  });
  if (!span) return call(work.trace);
  try {
    return await call(span.context);
  } catch (error) {
    span.fail(errorType(error));
    throw error;
  } finally {
    span.end();
  }
}

export function originOfStart(): Pick<StartMemo, 'traceparent' | 'startRequestId'> {
  const { trace, requestId: startRequestId } = currentWork() ?? {};
  return defined({ traceparent: trace && formatTrace(trace).traceparent, startRequestId });
}

/** Links the current request to an earlier operation's start. @param traceparent from its start memo */
export function linkTrace(traceparent: string | undefined): void {
  const earlier = parseTrace(traceparent);
  if (earlier) currentWork()?.span?.link(earlier);
}

export const traceInterceptor: WorkflowClientInterceptor = {
  startWithDetails: (input, next) =>
    traceCall(
      `StartWorkflow:${input.workflowType}`,
      'StartWorkflowExecution',
      input.options.workflowId,
      (context) => next(START_MEMO in (input.options.memo ?? {}) ? withTrace(input, context) : input),
    ),
  startUpdate: (input, next) =>
    traceCall(
      `UpdateWorkflow:${input.updateName}`,
      'UpdateWorkflowExecution',
      input.workflowExecution.workflowId,
      (context) => next(TRACED_MESSAGES.has(input.updateName) ? withTrace(input, context) : input),
    ),
  signal: (input, next) =>
    traceCall(
      `SignalWorkflow:${input.signalName}`,
      'SignalWorkflowExecution',
      input.workflowExecution.workflowId,
      (context) => next(TRACED_MESSAGES.has(input.signalName) ? withTrace(input, context) : input),
    ),
  query: (input, next) =>
    traceCall(`QueryWorkflow:${input.queryType}`, 'QueryWorkflow', input.workflowExecution.workflowId, () =>
      next(input),
    ),
  describe: (input, next) =>
    traceCall('DescribeWorkflow', 'DescribeWorkflowExecution', input.workflowExecution.workflowId, () =>
      next(input),
    ),
  terminate: (input, next) =>
    traceCall('TerminateWorkflow', 'TerminateWorkflowExecution', input.workflowExecution.workflowId, () =>
      next(input),
    ),
};

function withTrace<Input extends { readonly headers: Headers }>(
  input: Input,
  context: TraceContext | undefined,
): Input {
  if (!context) return input;
  const payload = defaultPayloadConverter.toPayload(formatTrace(context));
  return { ...input, headers: { ...input.headers, [TRACE_HEADER]: payload } };
}

function errorType(error: unknown): string {
  const status = Object.entries(GRPC).find(([, code]) => isGrpcError(error, code))?.[0];
  if (status !== undefined) return status;
  return error instanceof Error ? error.name : '_OTHER';
}

const headers = new AsyncLocalStorage<Headers>();

/** Sets a header, which the SDK's client can do only by an interceptor, on the starts and signals that `send` sends. */
export function withHeader<T>(name: string, value: object, send: () => Promise<T>): Promise<T> {
  return headers.run({ [name]: defaultPayloadConverter.toPayload(value) }, send);
}

export const headerInterceptor: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, headers: { ...input.headers, ...headers.getStore() } }),
  signal: (input, next) => next({ ...input, headers: { ...input.headers, ...headers.getStore() } }),
};
