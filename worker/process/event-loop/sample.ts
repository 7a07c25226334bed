/** Messages between the watchdog's thread and the main thread, and the verdict in storage for the next attempt. */
import type { StorageChoice } from '../../../platform/storage/index.js';

/** An attempt whose code was running when the main thread was sampled. */
export interface SampledAttempt {
  operationId: string;
  runId: string;
  activityId: string;
  activityType: string;
  attempt: number;
  /** 0 for an activity without heartbeats. */
  heartbeatTimeoutMs: number;
  /** Time since the attempt's last heartbeat, or its start. */
  beatAgeMs: number;
}

/** The main thread at one moment. */
export interface Sample {
  /** Turns of the event loop's timer so far: the same number means the same block. */
  beats: number;
  /** Frames, innermost first. */
  stack: string[];
  /** Absent if no attempt's code is known to run. */
  attempt?: SampledAttempt;
}

/** Function of the main thread that gives a {@link Sample} as JSON, or `null` while a debugger may hold the thread. */
export const SAMPLE = 'longhaul.event-loop.sample';

/** Start-up data of the thread. */
export interface ThreadData {
  /** One number, which the main thread's timer increments. */
  beats: Int32Array;
  storageChoice: StorageChoice;
}

export interface Block {
  blockedMs: number;
  stack: string[];
  /** Absent if several attempts, or none, may have blocked the loop. */
  attempt?: SampledAttempt;
}

/** Sent when a block has ended, or when its verdict is in storage. */
export type ThreadMessage = { ended: Block } | { judged: SampledAttempt } | { failure: string };

/** Why the next attempt fails. */
export type Verdict = Pick<Block, 'blockedMs' | 'stack'> & { attempt: number };

/** Interval of the main thread's timer and of the thread's looks at it, in milliseconds. */
export const BEAT_MS = 250;
