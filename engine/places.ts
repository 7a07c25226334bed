/** Asks queues for places and refusals. Queries write no history; without a worker the place is unknown, and no call is refused. */
import type { Client } from '@temporalio/client';
import { LonghaulError } from '../operations/errors.js';
import {
  queueFullMessage,
  retryAdvice,
  retryAfterSeconds,
  waitingMessage,
} from '../operations/queue-messages.js';
import { PLACES_QUERY, queueWorkflowId, REFUSAL_QUERY } from '../operations/queue-wire.js';
import { MAX_WAITING } from '../operations/tool-queue.js';
import type { Tool } from '../operations/tool.js';
import type { TemporalClient } from './temporal.js';

/** How long a queue's places stay fresh, in milliseconds. All readers share them. */
const FRESH_MS = 2_000;
/** Deadline of a query, in milliseconds, including its wait for a worker. */
const QUERY_DEADLINE_MS = 3_000;

interface View {
  readAtMs: number;
  /** Undefined if the queue can't be asked. */
  places: Promise<Map<string, number> | undefined>;
}

export class Places {
  readonly #views = new Map<string, View>();

  constructor(private readonly temporal: TemporalClient) {}

  /** Status message of an operation that waits for its turn. */
  async messageOf(queue: string, workflowId: string): Promise<string> {
    return waitingMessage((await this.#view(queue))?.get(workflowId));
  }

  /** Why the tool's queue would refuse a call now; undefined if it has room or can't be asked. The queue may still refuse the operation. */
  async refusalOf(
    tool: Pick<Tool, 'queue'>,
    principal: string,
    estimateSeconds: number,
  ): Promise<LonghaulError | undefined> {
    const { queue } = tool;
    if (!queue || queue.maxWaiting >= MAX_WAITING) return undefined;
    const { taskQueue } = this.temporal;
    const refusal = await this.#ask((client) =>
      client.workflow
        .getHandle(queueWorkflowId(taskQueue, queue.name))
        .query(REFUSAL_QUERY, principal, queue),
    );
    if (!refusal) return undefined;
    const seconds = retryAfterSeconds(queue, estimateSeconds);
    return new LonghaulError(
      'busy',
      `nothing was started: ${queueFullMessage(queue.name, refusal)}${retryAdvice(seconds)}`,
      { retryAfterSeconds: seconds },
    );
  }

  #view(queue: string): View['places'] {
    const known = this.#views.get(queue);
    if (known && performance.now() - known.readAtMs < FRESH_MS) return known.places;
    const { taskQueue } = this.temporal;
    const places = this.#ask((client) =>
      client.workflow.getHandle(queueWorkflowId(taskQueue, queue)).query(PLACES_QUERY),
    ).then((found) => found && new Map(found.order.map((id, place) => [id, place])));
    this.#views.set(queue, { readAtMs: performance.now(), places });
    return places;
  }

  async #ask<T>(query: (client: Client) => Promise<T>): Promise<T | undefined> {
    try {
      return await this.temporal.call(query, QUERY_DEADLINE_MS);
    } catch {
      // There is no worker, or no call has used the queue yet.
      return undefined;
    }
  }
}
