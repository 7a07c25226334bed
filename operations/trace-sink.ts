/** Messages from workflow code to its worker, which makes spans of them. Both sides import these types. */
import type { Payload } from '@temporalio/common';

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
