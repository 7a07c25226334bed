/** Histories as Temporal has them, for tests of drafts. */
import type { Payload } from '@temporalio/common';
import type { RunInfo } from '../../engine/list/current-runs.js';
import type { HistoryEvent } from '../../engine/read/history.js';

const encoder = new TextEncoder();

export function rawPayload(encoding: string, data: string, messageType?: string): Payload {
  return {
    metadata: {
      encoding: encoder.encode(encoding),
      ...(messageType === undefined ? {} : { messageType: encoder.encode(messageType) }),
    },
    data: encoder.encode(data),
  };
}

export function payloadOf(value: unknown): Payload {
  return rawPayload('json/plain', JSON.stringify(value));
}

export const payloadsOf = (...values: unknown[]) => ({ payloads: values.map(payloadOf) });

export const started = (...args: unknown[]): HistoryEvent => ({
  workflowExecutionStartedEventAttributes: { input: payloadsOf(...args) },
});

export const completed = (result: unknown): HistoryEvent => ({
  workflowExecutionCompletedEventAttributes: { result: payloadsOf(result) },
});

export const updated = (name: string, ...args: unknown[]): HistoryEvent => ({
  workflowExecutionUpdateAcceptedEventAttributes: {
    acceptedRequest: { input: { name, args: payloadsOf(...args) } },
  },
});

export const signaled = (signalName: string, ...args: unknown[]): HistoryEvent => ({
  workflowExecutionSignaledEventAttributes: { signalName, input: payloadsOf(...args) },
});

/** A listed run. @param times its start and end, in seconds @param status Temporal's number */
export function listed(
  workflowId: string,
  times: [start: number, end?: number],
  status = 2,
  more: RunInfo = {},
): RunInfo {
  const [start, end] = times;
  const time = (seconds: number) => ({ seconds: seconds as never, nanos: 0 });
  return {
    execution: { workflowId, runId: `${workflowId}-${start}` },
    type: { name: 'RefundWorkflow' },
    taskQueue: 'orders',
    status,
    startTime: time(start),
    ...(end === undefined ? {} : { closeTime: time(end) }),
    ...more,
  };
}
