/** Who makes a call, as far as a face has to know. The era's server fills it in. */
import type { OperationRecord, Progress } from '../operations/record.js';

export interface Caller {
  principal: string;
  /** What operations are listed under: the client's session, if it has one. */
  session?: string;
  /** Fires when the client has given the call up: then the wait ends, and nothing else. */
  signal: AbortSignal;
  /** Takes progress while the call waits; only there when the caller gave a progressToken. */
  onProgress?: (progress: Progress) => Promise<void>;
  /** How questions reach the person while the call waits; not there when the client has no elicitation. */
  questions?: Questions;
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
