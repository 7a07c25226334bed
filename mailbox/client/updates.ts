/**
 * Calls that change the mailbox's workflows, and so need the worker. Their concurrency is limited: otherwise calls exceed
 * their deadline, are sent again, and the worker works for callers that have given up. Further calls are queued, as long as
 * results arrive and their clients wait.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { LonghaulError } from '../../operations/errors.js';
import { withJitter } from '../../platform/jitter.js';
import type { TemporalClient } from '../../engine/temporal.js';
import { GRPC, isGrpcError, isUnreachable } from '../../platform/grpc-errors.js';
import { Slots } from './slots.js';

/** Deadline of a call before it is sent again, in milliseconds, with its time in the worker's queue. */
const CALL_DEADLINE_MS = 5_000;
/** Calls fail after no call of this process was answered for this time, in milliseconds. */
const SILENCE_LIMIT_MS = 20_000;
/** Maximum time of a call with its time in the queue, in milliseconds: unknown clients wait for 55 s. */
const BUDGET_MS = 50_000;
/** First and longest pause before a call is sent again, in milliseconds. */
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1_000;
/** Maximum concurrent calls from this process: enough to keep a worker busy. */
const CONCURRENCY = 32;
/** Maximum concurrent calls per workflow from this process; Temporal accepts ten updates per workflow in all. */
const CONCURRENCY_PER_WORKFLOW = 4;

export class Updates {
  readonly #all = new Slots(CONCURRENCY);
  readonly #each = new Map<string, Slots>();
  /** Monotonic time of the last result, in milliseconds. */
  #answeredAtMs = 0;

  constructor(private readonly temporal: TemporalClient) {}

  /**
   * Makes a call, and retries it until it is answered. The call must be idempotent.
   *
   * @param isUrgent takes precedence over other calls of this process
   * @throws LonghaulError `unavailable`; the error that the call was answered with
   */
  async call<T>(workflowId: string, work: (client: Client) => Promise<T>, isUrgent = false): Promise<T> {
    const endMs = performance.now() + BUDGET_MS;
    const leave = await this.#enter(workflowId, endMs, isUrgent);
    try {
      const startedAtMs = performance.now();
      let pauseMs = FIRST_RETRY_MS;
      for (;;) {
        try {
          const client = await this.temporal.connectedClient();
          const answer = await client.connection.withDeadline(Date.now() + CALL_DEADLINE_MS, () =>
            work(client),
          );
          this.#answeredAtMs = performance.now();
          return answer;
        } catch (error) {
          if (!isTransient(error)) {
            this.#answeredAtMs = performance.now();
            throw error;
          }
          const silentUntilMs = Math.max(startedAtMs, this.#answeredAtMs) + SILENCE_LIMIT_MS;
          if (performance.now() >= Math.min(endMs, silentUntilMs))
            throw new LonghaulError('unavailable', 'the mailbox did not answer in time; try again shortly', {
              cause: error,
            });
          await delay(withJitter(pauseMs));
          pauseMs = Math.min(LONGEST_RETRY_MS, pauseMs * 2);
        }
      }
    } finally {
      leave();
    }
  }

  /** Waits until a call for this workflow may be sent. */
  async #enter(workflowId: string, endMs: number, isUrgent: boolean): Promise<() => void> {
    let own = this.#each.get(workflowId);
    if (!own) this.#each.set(workflowId, (own = new Slots(CONCURRENCY_PER_WORKFLOW)));
    const leaveOwn = await own.enter(endMs - performance.now(), isUrgent);
    const leave = () => {
      leaveOwn();
      if (own.isUnused) this.#each.delete(workflowId);
    };
    try {
      const leaveAll = await this.#all.enter(endMs - performance.now(), isUrgent);
      return () => {
        leaveAll();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }
}

/** Whether the call may be retried: it was lost, or failed for a transient reason. */
function isTransient(error: unknown): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isUnreachable(error)) return true;
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure)
    // The run ended before it completed the update; the next run accepts it.
    return error.cause.type === 'AcceptedUpdateCompletedWorkflow';
  // The end of a run or of a workflow task, or Temporal's limit of ten.
  return isGrpcError(error, GRPC.resourceExhausted, GRPC.failedPrecondition, GRPC.aborted);
}
