/** Who makes a call, as far as a face has to know. The era's server fills it in. */
import type { OperationRecord, Progress } from '../../operations/record.js';
import type { Shutdown } from '../lifecycle/shutdown.js';

export interface Caller {
  principal: string;
  /** What operations are listed under: the client's session, if it has one. */
  session?: string;
  /** Fires when the client has given the call up: then the wait ends, and nothing else. */
  signal: AbortSignal;
  /** Takes progress while the call waits; only there when the caller gave a progressToken. */
  onProgress?: (progress: Progress) => Promise<void>;
  /** Does a person call, at the command line, and no agent? Default: false. */
  isPerson?: boolean;
  /** Name that the client gives itself, e.g. `claude-code`; not there when it gives none. */
  clientName?: string;
  /** The shutdown of this server, which ends waits with an answer. */
  shutdown: Shutdown;
  /** Takes how the call goes on elsewhere when its stream breaks; only there when the era's streams can. */
  onContinuation?: (call: ContinuedCall) => void;
  /** Does the call go on where its stream broke, so that its client has had no answer yet? Default: false. */
  isContinued?: boolean;
  /** How questions reach the person while the call waits; not there when the client has no elicitation. */
  questions?: Questions;
}

/** A waiting call, as any process can make it again without doing anything twice. */
export interface ContinuedCall {
  tool: string;
  args: Record<string, unknown>;
  /** The argument that says for how many seconds it waits: the rest of them, by then. */
  timeoutArgument: string;
  timeoutSeconds: number;
}

export type Questions =
  /** The era sends them on the call's own stream, each once; answers reach the operation by another way. */
  | { kind: 'stream'; show: (record: OperationRecord) => Promise<void> }
  /** The call ends with them, and its retry goes on waiting. */
  | {
      kind: 'result';
      /** Keys that were answered already, though the operation may not have heard of it yet. Default: none. */
      answered?: ReadonlySet<string>;
    };
