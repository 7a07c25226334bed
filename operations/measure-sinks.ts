/** Reports of workflows for the metrics of their worker: the types of a sink of Temporal's SDK, on both sides. */

/** Functions of the worker that an operation's workflow calls. */
export type MeasureSinks = {
  longhaulMetrics: {
    /** The operation ends. @param durationMs since its start */
    closed(tool: string, status: string, durationMs: number): void;
    /** The operation has made its first progress. @param afterMs since its start */
    firstProgress(tool: string, afterMs: number): void;
    /** The operation got its turn in its tool's queue. */
    gotTurn(tool: string, waitedMs: number): void;
  };
};
