/** Context of a call, which each revision's server provides to the protocols. */
import type { OperationRecord, Progress } from '../../operations/record.js';
import type { Shutdown } from '../shutdown/index.js';

export interface CallContext {
  /** Session that lists the client's operations, if any. */
  session?: string;
  /** Fires when the client cancels the call or disconnects. That only ends the wait. */
  signal: AbortSignal;
  /** Reports progress while the call waits. Present if the call has a progressToken. */
  onProgress?: (progress: Progress) => Promise<void>;
  /** Whether a person at the command line calls, not an agent. Default: false. */
  isPerson?: boolean;
  /** The client's `clientInfo.name`, e.g. `claude-code`. */
  clientName?: string;
  /** This server's shutdown, which ends waits with an answer. */
  shutdown: Shutdown;
  /** Stores how another process can continue the call if its stream breaks. Present if the revision can resume streams. */
  onContinuation?: (call: ContinuedCall) => void;
  /** Whether the call continues one with a broken stream, so its client has no answer yet. Default: false. */
  isContinued?: boolean;
  /** How questions reach the user while the call waits. Absent for clients without elicitation. */
  questions?: Questions;
}

/** A waiting call, in a form that any process can repeat without doing anything twice. */
export type ContinuedCall = { timeoutSeconds: number } & (
  | { token: string }
  /** One of Longhaul's own tools. A repeated call gets the remaining time as `timeoutArgument`, in seconds. */
  | { tool: string; args: Record<string, unknown>; timeoutArgument: string }
);

export type Questions =
  /** The revision sends each question once on the call's stream. Answers reach the operation by other means. */
  | { kind: 'stream'; show: (record: OperationRecord) => Promise<void> }
  /** The call ends with its questions, and its retry resumes the wait. */
  | {
      kind: 'result';
      /** Keys of answered questions, even if the operation hasn't received the answer yet. Default: none. */
      answered?: ReadonlySet<string>;
    };
