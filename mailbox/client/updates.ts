/**
 * Calls that change the mailbox's workflows, and so need the worker. This process has only so many under way at once: with
 * more, each takes longer than its deadline, is sent again, and the worker works for callers that have given up. The others
 * wait here, for as long as answers come and their clients wait.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  isGrpcServiceError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { LonghaulError } from '../../operations/errors.js';
import { withJitter } from '../../platform/jitter.js';
import { isOutOfReach, type TemporalClient } from '../../engine/temporal.js';
import { Slots } from './slots.js';

/** How long a call may take before it is sent again, in milliseconds: it waits for its turn at the worker. */
const CALL_DEADLINE_MS = 5_000;
/** A call is given up when nothing that this process has sent was answered for this time, in milliseconds. */
const SILENCE_LIMIT_MS = 20_000;
/** Longest time for a call with its wait here, in milliseconds: clients of which nothing is known wait for 55 s. */
const BUDGET_MS = 50_000;
/** First and longest pause before a call is sent again, in milliseconds. */
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1_000;
/** Calls that this process has under way at most: enough to keep a worker busy. */
const CALLS_AT_ONCE = 32;
/** Those for one workflow; Temporal takes ten updates of one in all. */
const CALLS_OF_ONE_AT_ONCE = 4;

/** gRPC status codes of updates that met the end of a run or of a workflow task, or came while ten were under way. */
const RESOURCE_EXHAUSTED = 8;
export const FAILED_PRECONDITION = 9;
const ABORTED = 10;

export class Updates {
  readonly #all = new Slots(CALLS_AT_ONCE);
  readonly #each = new Map<string, Slots>();
  /** When something was answered last, on the process's own clock, in milliseconds. */
  #answeredAtMs = 0;

  constructor(private readonly temporal: TemporalClient) {}

  /**
   * Makes a call until it is answered. Repeats have to be harmless: one whose answer doesn't come is sent again.
   *
   * @param isUrgent goes before the others of this process
   * @throws LonghaulError `unavailable`; the answer, if it is an error
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
          if (!isLost(error)) {
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
    if (!own) this.#each.set(workflowId, (own = new Slots(CALLS_OF_ONE_AT_ONCE)));
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

/** May the call have been lost, or come to nothing, for a reason that passes? */
function isLost(error: unknown): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isOutOfReach(error)) return true;
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure)
    // The run ended with the update on its way; the one that follows takes it.
    return error.cause.type === 'AcceptedUpdateCompletedWorkflow';
  return isGrpcError(error, [RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED]);
}

export function isGrpcError(error: unknown, codes: number[]): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return isGrpcServiceError(cause) && codes.includes(cause.code);
}
