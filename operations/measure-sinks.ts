/** Metrics that workflows report to their worker: the types of a sink of Temporal's SDK. */

export type MeasureSinks = {
  longhaulMetrics: {
    /** The operation ends. @param durationMs since its start */
    closed(tool: string, status: string, durationMs: number): void;
    /** The operation has made its first progress. @param afterMs since its start */
    firstProgress(tool: string, afterMs: number): void;
    gotTurn(tool: string, waitedMs: number): void;
  };
};
