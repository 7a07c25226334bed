/** Context of a call, which the server of its revision provides to the protocols. */
import type { OperationRecord, Progress } from '../../operations/record.js';
import type { Shutdown } from '../lifecycle/shutdown.js';

export interface CallContext {
  /** Session that the client's operations are listed under, if it has one. */
  session?: string;
  /** Fires when the client cancels the call or disconnects: that ends the wait, and nothing else. */
  signal: AbortSignal;
  /** Reports progress while the call waits; present if the call has a progressToken. */
  onProgress?: (progress: Progress) => Promise<void>;
  /** Whether the caller is a person at the command line, not an agent. Default: false. */
  isPerson?: boolean;
  /** The client's `clientInfo.name`, e.g. `claude-code`; absent if it has none. */
  clientName?: string;
  /** Shutdown of this server, which ends waits with an answer. */
  shutdown: Shutdown;
  /** Stores how another process can continue the call when its stream breaks; present if the revision can resume streams. */
  onContinuation?: (call: ContinuedCall) => void;
  /** Whether the call continues one whose stream broke, so that its client has no answer yet. Default: false. */
  isContinued?: boolean;
  /** How questions reach the user while the call waits; absent for clients without elicitation. */
  questions?: Questions;
}

/** A waiting call, in the form in which any process can repeat it without doing anything twice. */
export interface ContinuedCall {
  tool: string;
  args: Record<string, unknown>;
  /** Name of the argument with the time to wait, in seconds; it is set to the remaining time. */
  timeoutArgument: string;
  timeoutSeconds: number;
}

export type Questions =
  /** The revision sends each question once on the call's stream; answers reach the operation by other means. */
  | { kind: 'stream'; show: (record: OperationRecord) => Promise<void> }
  /** The call ends with its questions, and its retry resumes the wait. */
  | {
      kind: 'result';
      /** Keys of questions that are answered, even if the operation hasn't received the answer yet. Default: none. */
      answered?: ReadonlySet<string>;
    };
