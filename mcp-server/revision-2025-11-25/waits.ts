/** Waiting calls of this era, and what any process needs to go on with one. */
import type { JSONRPCMessage, ProgressToken, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { JobsPosition } from '../two-stage/index.js';

/** What a call waits for. */
export type Wait =
  /** A tool's operation, as a plain call, until the budget ends (epoch milliseconds). */
  | { kind: 'plain'; token: string; budgetEndsAt: number }
  /** A task's result. */
  | { kind: 'task'; token: string }
  /** One of Longhaul's own tools that was told to wait: it is called again for the rest of the time. */
  | {
      kind: 'own';
      tool: string;
      args: Record<string, unknown>;
      timeoutArgument: string;
      budgetEndsAt: number;
    };

/** What an event's ID carries: where its stream goes on. */
export interface EventPosition {
  /** Nonce of the session whose stream it is. */
  session: string;
  /** The request that the stream's response is for. */
  requestId: RequestId;
  /** Missing before it is known. */
  wait?: Wait;
  progressToken?: ProgressToken;
  /** The last progress that was sent: it only grows. */
  progress?: number;
  /** The request was cancelled, or answered with an error: there is nothing to come back to. */
  isOver?: true;
}

/** What the ID of an event on a session's own stream carries. */
export interface SessionStreamPosition {
  /** Nonce of the session. */
  session: string;
  /** What it was told of its two-stage jobs. */
  jobs: JobsPosition;
}

/** Where one call's messages go. */
export interface CallStream {
  /** Fires when the client has cancelled the call or is gone. */
  signal: AbortSignal;
  send(message: JSONRPCMessage): Promise<void>;
  /** The position from now on. */
  readonly position: Omit<EventPosition, 'session'>;
  /** Tells the client the position, if it understands that. */
  mark(): void;
}
