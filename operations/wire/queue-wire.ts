/** The wire contract of waiting operations, queues and the engine. Histories hold these names and shapes: add fields, never rename. */
import { defineQuery, defineSignal } from '../tool/definitions.js';
import type { ToolQueue } from '../tool/queue.js';
import { SMALL_FIELD_BYTES } from './state.js';

/** Workflow type of a queue. It has no start memo, so it's no operation. */
export const QUEUE_WORKFLOW = 'longhaul_queue';

/** Operations of one worker ask for turns, once or again, or have ended or stopped waiting. */
export const TURN_CHANGES_SIGNAL = defineSignal<[TurnChange[]]>('longhaul_turn_changes');
export const TURN_SIGNAL = defineSignal<[TurnNotice]>('longhaul_turn');
/** Memo key of a queue's {@link Places}. */
export const PLACES_MEMO = 'longhaul_places';
/** Whether the queue would refuse another operation of a principal now, with these limits. */
export const REFUSAL_QUERY = defineQuery<Refusal | null, [principal: string, queue: ToolQueue]>(
  'longhaul_refusal',
);

/** Local activity of every worker: sends a {@link TurnRequest} to its queue, and starts the queue if it isn't running. */
export const ASK_TURN_ACTIVITY = 'longhaul_ask_turn';
/** Gives a turn back. Arguments: the queue's name, the operation's workflow ID. */
export const RETURN_TURN_ACTIVITY = 'longhaul_return_turn';
/** Sends the queue's answers. Argument: a list of {@link AddressedNotice}. Result: IDs of operations that aren't open. */
export const TELL_TURNS_ACTIVITY = 'longhaul_tell_turns';
/** Checks which operations are still open. Argument: workflow IDs. Result: IDs of those that aren't. */
export const CHECK_TURNS_ACTIVITY = 'longhaul_check_turns';

export const QUEUE_FULL = 'QueueFull';
export const QUEUE_TIMEOUT = 'QueueTimeout';

/** Maximum JSON of the IDs in {@link Places}: each change of the order writes them. */
export const PLACES_BYTES = SMALL_FIELD_BYTES;

/** Workflow ID of a queue. Tokens never contain a `#`. */
export function queueWorkflowId(taskQueue: string, name: string): string {
  return `longhaul-queue#${taskQueue}#${name}`;
}

export interface TurnRequest {
  id: string;
  principal: string;
  /** When the operation was started, in epoch milliseconds: requests may overtake each other. */
  createdAtMs: number;
  priority?: number;
  queue: ToolQueue;
}

/** An operation's request, or the workflow ID of one that has ended or stopped waiting. */
export type TurnChange = { ask: TurnRequest } | { return: string };

export type TurnNotice = { isGranted: true } | { isGranted: false; type: string; message: string };

export interface AddressedNotice {
  id: string;
  notice: TurnNotice;
}

/** Who waits, as the queue's memo has it. */
export interface Places {
  /** Workflow IDs of the next operations, up to {@link PLACES_BYTES}. */
  order: string[];
  /** Whether others wait behind these. */
  hasMore?: true;
}

export interface Refusal {
  running: number;
  waiting: number;
  /** Whether the caller has its maximum running, while others could run. */
  isCallerFull: boolean;
}

export interface Queued {
  id: string;
  principal: string;
}

export interface Waiting extends Queued {
  createdAtMs: number;
  priority?: number;
  /** When it stops waiting, in epoch milliseconds. */
  until: number;
}

/** State of a queue between its workflow's runs. */
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
