/** Waiting calls, and the position by which any process can resume one. */
import type { JSONRPCMessage, ProgressToken, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { JobsPosition } from '../two-stage/index.js';

/** The target of a call's wait. */
export type Wait =
  /** A tool's operation, as a plain call, until the budget ends (epoch milliseconds). */
  | { kind: 'plain'; token: string; budgetEndsAt: number }
  /** A task's result. */
  | { kind: 'task'; token: string }
  /** A built-in tool that was called to wait: it is called again for the remaining time. */
  | {
      kind: 'own';
      tool: string;
      args: Record<string, unknown>;
      timeoutArgument: string;
      budgetEndsAt: number;
    };

/** Contents of the sealed event ID on a call's stream: the position to resume from. */
export interface EventPosition {
  /** Nonce of the stream's session. */
  session: string;
  /** The request that the stream's response is for. */
  requestId: RequestId;
  /** Missing until the operation has been started. */
  wait?: Wait;
  progressToken?: ProgressToken;
  /** The last progress that was sent; it never decreases. */
  progress?: number;
  /** The request was cancelled, or answered with an error: nothing is left to resume. */
  isOver?: true;
}

/** Contents of the sealed event ID on a session's own stream. */
export interface SessionStreamPosition {
  /** Nonce of the session. */
  session: string;
  /** Progress and results of the session's two-stage jobs that the stream has sent. */
  jobs: JobsPosition;
}

/** The stream of one call's messages. */
export interface CallStream {
  /** Fires when the client cancels the call or disconnects. */
  signal: AbortSignal;
  send(message: JSONRPCMessage): Promise<void>;
  /** The current position; mutable. */
  readonly position: Omit<EventPosition, 'session'>;
  /** Sends the position to the client as an event ID, if its version allows events without data. */
  mark(): void;
}
