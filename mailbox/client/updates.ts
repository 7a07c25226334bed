/**
 * Calls that change the mailbox's workflows, and so need the worker. Without a limit on concurrency they would exceed their
 * deadline and be sent again, and the worker would work for callers that have given up. Further calls queue while results arrive
 * and their clients wait.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import PQueue from 'p-queue';
import { LonghaulError } from '../../operations/errors.js';
import { withJitter } from '../../platform/jitter.js';
import type { TemporalClient } from '../../engine/temporal/client.js';
import { GRPC, isGrpcError, isUnreachable } from '../../platform/temporal/grpc-errors.js';

/** Deadline of a call, including its time in the worker's queue, before it is sent again, in milliseconds. */
const CALL_DEADLINE_MS = 5_000;
/** Calls fail once this process got no result for this time, in milliseconds. */
const SILENCE_LIMIT_MS = 20_000;
/** Maximum time of a call, including its time in the queue, in milliseconds: unknown clients wait for 55 s. */
const BUDGET_MS = 50_000;
/** First and longest pause before a retry, in milliseconds. */
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1_000;
/** Maximum concurrent calls from this process. Keeps a worker busy. */
const CONCURRENCY = 32;
/** Maximum concurrent calls per workflow from this process. Temporal accepts ten updates per workflow in all. */
const CONCURRENCY_PER_WORKFLOW = 4;

export class Updates {
  readonly #all = new PQueue({ concurrency: CONCURRENCY });
  readonly #each = new Map<string, PQueue>();
  #answeredAtMs = 0;

  constructor(private readonly temporal: TemporalClient) {}

  /**
   * Makes an idempotent call, and retries it until it gets a result.
   *
   * @param isUrgent takes precedence over this process's other calls
   * @throws LonghaulError `unavailable`; the error that the call returned
   */
  call<T>(workflowId: string, work: (client: Client) => Promise<T>, isUrgent = false): Promise<T> {
    const endMs = performance.now() + BUDGET_MS;
    return inTurn(this.#queueOf(workflowId), { endMs, isUrgent }, () =>
      inTurn(this.#all, { endMs, isUrgent }, () => this.#callUntilAnswered(work, endMs)),
    );
  }

  #queueOf(workflowId: string): PQueue {
    let queue = this.#each.get(workflowId);
    if (!queue) {
      queue = new PQueue({ concurrency: CONCURRENCY_PER_WORKFLOW });
      queue.on('idle', () => this.#each.delete(workflowId));
      this.#each.set(workflowId, queue);
    }
    return queue;
  }

  async #callUntilAnswered<T>(work: (client: Client) => Promise<T>, endMs: number): Promise<T> {
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
  }
}

/**
 * Runs work once the queue has room. Limits only the wait: p-queue's own signal would also end work that has begun.
 *
 * @param endMs end of the wait, by `performance.now()`
 * @param isUrgent takes precedence over other work
 * @throws LonghaulError `unavailable` if there was no room until then; what the work throws
 */
export function inTurn<T>(
  queue: PQueue,
  { endMs, isUrgent }: { endMs: number; isUrgent: boolean },
  work: () => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const refuse = () =>
    late.abort(new LonghaulError('unavailable', 'too many calls are in progress; try again shortly'));
  const timer = setTimeout(refuse, endMs - performance.now());
  const begin = () => {
    clearTimeout(timer);
    return work();
  };
  return queue.add(begin, { priority: isUrgent ? 1 : 0, signal: late.signal });
}

/** Whether the call was lost, or failed for a transient reason. */
function isTransient(error: unknown): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isUnreachable(error)) return true;
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure)
    // The run ended before it completed the update. The next run accepts it.
    return error.cause.type === 'AcceptedUpdateCompletedWorkflow';
  // The end of a run or a workflow task, or Temporal's limit of ten.
  return isGrpcError(error, GRPC.resourceExhausted, GRPC.failedPrecondition, GRPC.aborted);
}
