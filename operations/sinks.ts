/** Messages from workflow code to its worker: types of sinks of the SDK, which both sides import. Metrics, and ends to make spans of. */
import type { Payload } from '@temporalio/common';

export type MeasureSinks = {
  longhaulMetrics: {
    /** The operation ends. @param durationMs since its start */
    closed(tool: string, status: string, durationMs: number): void;
    /** The operation has made its first progress. @param afterMs since its start */
    firstProgress(tool: string, afterMs: number): void;
    gotTurn(tool: string, waitedMs: number): void;
  };
};

export const TRACE_SINK = 'longhaulTrace';

export type RunOutcome = 'completed' | 'canceled' | 'failed' | 'continued_as_new';

export type TraceSinks = {
  [TRACE_SINK]: {
    /** @param header of the start */
    runEnded(header: Payload, outcome: RunOutcome): void;
    /** @param name of the span: `HandleUpdate:provide_input` @param beganMs in epoch milliseconds, by the worker's clock */
    messageHandled(header: Payload, name: string, beganMs: number, isFailed: boolean): void;
  };
};
