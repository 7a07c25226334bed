/** Places in queues, from the memo of the queue's workflow, and refusals, by a query: without a worker no call is refused. */
import type { Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { LonghaulError } from '../../operations/errors.js';
import {
  queueFullMessage,
  retryAdvice,
  retryAfterSeconds,
  waitingMessage,
} from '../../operations/wire/queue-messages.js';
import {
  PLACES_MEMO,
  queueWorkflowId,
  REFUSAL_QUERY,
  type Places as PublishedPlaces,
} from '../../operations/wire/queue-wire.js';
import { MAX_WAITING } from '../../operations/tool/queue.js';
import type { Tool } from '../../operations/tool/index.js';
import type { TemporalClient } from '../temporal/client.js';

/** How long a queue's places stay fresh, in milliseconds. All readers share them. */
const FRESH_MS = 2_000;
/** Deadline of a query, in milliseconds, including its wait for a worker. */
const QUERY_DEADLINE_MS = 3_000;

const MAX_QUEUES = 1_000;

/** Undefined if unknown. */
type QueuePlaces = Promise<PublishedPlaces | undefined>;

export class Places {
  readonly #known = new LRUCache<string, QueuePlaces>({ max: MAX_QUEUES, ttl: FRESH_MS });

  constructor(private readonly temporal: TemporalClient) {}

  /** Status message of an operation that waits for its turn. */
  async messageOf(queue: string, workflowId: string): Promise<string> {
    return waitingMessage(await this.#placesIn(queue), workflowId);
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
    const queueId = queueWorkflowId(taskQueue, queue.name);
    const ask = (client: Client) => client.workflow.getHandle(queueId).query(REFUSAL_QUERY, principal, queue);
    // Fails without a worker, and until a call has used the queue.
    const refusal = await this.temporal.call(ask, QUERY_DEADLINE_MS).catch(() => undefined);
    if (!refusal) return undefined;
    const seconds = retryAfterSeconds(queue, estimateSeconds);
    return new LonghaulError(
      'busy',
      `nothing was started: ${queueFullMessage(queue.name, refusal)}${retryAdvice(seconds)}`,
      { retryAfterSeconds: seconds },
    );
  }

  #placesIn(queue: string): QueuePlaces {
    const known = this.#known.get(queue);
    if (known) return known;
    const places = this.temporal.describe(queueWorkflowId(this.temporal.taskQueue, queue)).then(
      ({ memo }) => memo?.[PLACES_MEMO] as PublishedPlaces | undefined,
      () => undefined,
    );
    this.#known.set(queue, places);
    return places;
  }
}
