/**
 * The contract between operations that wait for a turn, the workflow of their queue, and the engine: names and shapes on the wire.
 * They stand in histories: fields may be added, never renamed.
 */
import { defineQuery, defineSignal } from './definitions.js';
import type { ToolQueue } from './tool-queue.js';

/** Workflow type of a queue. It has no start memo, so it is no operation. */
export const QUEUE_WORKFLOW = 'longhaul_queue';

/** An operation asks for a turn, once or again. */
export const ASK_TURN_SIGNAL = defineSignal<[TurnRequest]>('longhaul_ask_turn');
/** An operation has ended, or no longer waits. Argument: its workflow ID. */
export const RETURN_TURN_SIGNAL = defineSignal<[id: string]>('longhaul_return_turn');
/** The queue's answer to an operation. */
export const TURN_SIGNAL = defineSignal<[TurnNotice]>('longhaul_turn');
/** Which operations wait, in the order of their turns. */
export const PLACES_QUERY = defineQuery<Places>('longhaul_places');
/** Whether the queue would refuse another operation of a principal now, with these limits. */
export const REFUSAL_QUERY = defineQuery<Refusal | null, [principal: string, queue: ToolQueue]>(
  'longhaul_refusal',
);

/** Local activities of every worker: sends a {@link TurnRequest} to its queue, which is started if it isn't running. */
export const ASK_TURN_ACTIVITY = 'longhaul_ask_turn';
/** Gives a turn back. Arguments: name of the queue, workflow ID of the operation. */
export const RETURN_TURN_ACTIVITY = 'longhaul_return_turn';
/** Sends the queue's answers. Argument: a list of {@link AddressedNotice}. Result: IDs of operations that aren't open. */
export const TELL_TURNS_ACTIVITY = 'longhaul_tell_turns';
/** Looks which operations are still open. Argument: their workflow IDs. Result: IDs of those that aren't. */
export const CHECK_TURNS_ACTIVITY = 'longhaul_check_turns';

/** Failure types of operations that get no turn. */
export const QUEUE_FULL = 'QueueFull';
export const QUEUE_TIMEOUT = 'QueueTimeout';

/** Operations that a {@link Places} lists at most: an answer stays below the size that is moved to storage. */
export const LISTED_PLACES = 2_000;

/** Workflow ID of a queue. No operation's token contains a `#`. */
export function queueWorkflowId(taskQueue: string, name: string): string {
  return `longhaul-queue#${taskQueue}#${name}`;
}

export interface TurnRequest {
  /** Workflow ID of the operation. */
  id: string;
  principal: string;
  /** When the operation was started, in epoch milliseconds: requests may overtake each other. */
  createdAtMs: number;
  /** The tool's priority, 1 to 5. */
  priority?: number;
  queue: ToolQueue;
}

/** A turn, or why there is none. */
export type TurnNotice = { isGranted: true } | { isGranted: false; type: string; message: string };

export interface AddressedNotice {
  id: string;
  notice: TurnNotice;
}

export interface Places {
  running: number;
  waiting: number;
  /** Workflow IDs of the first {@link LISTED_PLACES} that wait. */
  order: string[];
}

/** Why a queue takes no further operation. */
export interface Refusal {
  running: number;
  waiting: number;
  /** Whether the caller has as many running as one may have, while others could run. */
  isCallerFull: boolean;
}

/** An operation in a queue. */
export interface Queued {
  id: string;
  principal: string;
}

export interface Waiting extends Queued {
  createdAtMs: number;
  priority?: number;
  /** Epoch milliseconds: when it stops waiting. */
  until: number;
}

/** State of a queue between runs of its workflow. */
export interface QueueState {
  limits: Omit<ToolQueue, 'name'>;
  running: Queued[];
  /** In the order of their turns. */
  waiting: Waiting[];
}

export interface QueueInput {
  name: string;
  /** Missing in the first run. */
  state?: QueueState;
}
