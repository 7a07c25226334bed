/** Waiting calls, and the position from which any process can resume one. */
import type { JSONRPCMessage, ProgressToken, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { JobsPosition } from '../two-stage/index.js';

export type Wait =
  /** A tool's operation, as a plain call, until the budget ends (epoch milliseconds). */
  | { kind: 'plain'; token: string; budgetEndsAt: number }
  | { kind: 'task'; token: string }
  /** A built-in tool that was called to wait. Resuming calls it again for the remaining time. */
  | {
      kind: 'own';
      tool: string;
      args: Record<string, unknown>;
      timeoutArgument: string;
      budgetEndsAt: number;
    };

/** Contents of the sealed event ID on a call's stream: where to resume. */
export interface EventPosition {
  session: string;
  requestId: RequestId;
  /** Missing until the operation has started. */
  wait?: Wait;
  progressToken?: ProgressToken;
  /** The last progress sent. It never decreases. */
  progress?: number;
  /** The request was cancelled, or answered with an error, so there is nothing to resume. */
  isOver?: true;
}

/** Contents of the sealed event ID on a session's own stream. */
export interface SessionStreamPosition {
  session: string;
  /** The stream's deliveries for the session's two-stage jobs. */
  jobs: JobsPosition;
}

export interface CallStream {
  signal: AbortSignal;
  send(message: JSONRPCMessage): Promise<void>;
  /** The current position; mutable. */
  readonly position: Omit<EventPosition, 'session'>;
  /** Sends the position to the client as an event ID, if its version allows events without data. */
  mark(): void;
}
