/** The engine's side of Temporal: a client that may not be there yet, deadlines on calls, errors in our words. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  Client,
  isGrpcServiceError,
  WorkflowNotFoundError,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import type { LoadedDataConverter } from '@temporalio/common';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { NativeConnection } from '@temporalio/worker';
import { LonghaulError } from '../operations/errors.js';
import { dataConverterOf } from '../platform/data-converter.js';
import type { Logger } from '../platform/log.js';
import {
  addSearchAttributes,
  missingSearchAttributes,
  SEARCH_ATTRIBUTE_NAMES,
} from '../platform/search-attributes.js';
import { isDiskFull, isDiskFullError } from '../platform/disk.js';
import type { Storage } from '../platform/storage.js';
import { readStackState, temporalConnectConfig } from '../platform/temporal-address.js';
import { connectTemporal } from '../platform/connect-temporal.js';

/** How long a call to Temporal may take before it counts as out of reach, in milliseconds. */
export const CALL_DEADLINE_MS = 2_000;

/** How much later than its deadline a call is given up, in milliseconds: the SDK's core may retry for longer. */
const DEADLINE_SLACK_MS = 100;
const OVERDUE = new Error('a call took longer than its deadline');

/** gRPC status codes that mean "not now". */
const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;
const CANCELLED = 1;

/** How long what was read of Temporal counts, and how long reading it may take, in milliseconds. */
const FACTS_FRESH_MS = 60_000;
const FACTS_DEADLINE_MS = 5_000;

export interface TemporalFacts {
  /** How long the namespace keeps closed workflows, in seconds. */
  retentionSeconds: number;
  /** Does it know Longhaul's search attributes? Without them everything but the lists by them works. */
  searchAttributes: boolean;
}

/** Nothing can be stored: the embedded Temporal's database can't grow, or a large value finds no room. */
export class DiskFullError extends LonghaulError {
  constructor(folder: string, cause: unknown) {
    super(
      'unavailable',
      `the disk of ${folder} is full: nothing is stored until there is room; running work continues then. Try again later`,
      { cause },
    );
  }
}

export class TemporalClient {
  /** Decodes what describe leaves encoded. */
  readonly dataConverter: LoadedDataConverter;
  #client: Client | undefined;
  #connection: NativeConnection | undefined;
  #facts: TemporalFacts | undefined;
  /** On the process's own clock, in milliseconds. */
  #factsReadAtMs = 0;
  #reading: Promise<TemporalFacts> | undefined;
  #closing = new AbortController();
  /** Fires when nobody shall wait for the first connection any more. */
  readonly #noMoreWaiting = new AbortController();
  readonly #firstConnection: Promise<void>;

  /**
   * @param firstConnectionLimitMs how long from now on calls wait for the first connection, in milliseconds, before they
   *   fail with `unavailable`. Default: 0
   */
  constructor(
    private readonly home: string,
    readonly storage: Storage,
    readonly taskQueue: string,
    private readonly logger: Logger,
    firstConnectionLimitMs = 0,
  ) {
    this.dataConverter = loadDataConverter(dataConverterOf(storage));
    const limit = delay(firstConnectionLimitMs, undefined, {
      signal: this.#noMoreWaiting.signal,
      ref: false,
    }).catch(() => undefined);
    this.#firstConnection = Promise.race([this.#connect(), limit]);
  }

  async #connect(): Promise<void> {
    try {
      const { connection, namespace } = await connectTemporal(this.home, this.logger, this.#closing.signal);
      this.#connection = connection;
      this.#client = new Client({ connection, namespace, dataConverter: dataConverterOf(this.storage) });
    } catch (error) {
      if (!this.#closing.signal.aborted) this.logger.error({ err: error }, 'connecting to Temporal failed');
    }
  }

  /** Has there been a connection? */
  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  /** Calls that wait for the first connection fail now, and later ones at once. */
  stopWaiting(): void {
    this.#noMoreWaiting.abort();
  }

  /** @throws LonghaulError `unavailable` while there is no connection yet */
  get client(): Client {
    if (!this.#client)
      throw new LonghaulError('unavailable', 'Temporal is not connected yet; try again shortly');
    return this.#client;
  }

  /**
   * The client, once there is a connection: waits for the first one for as long as the constructor was told.
   *
   * @throws LonghaulError `unavailable` when there is none by then
   */
  async connectedClient(): Promise<Client> {
    await this.#firstConnection;
    return this.client;
  }

  get namespace(): string {
    return this.client.options.namespace;
  }

  /**
   * Calls Temporal under a deadline.
   *
   * @throws LonghaulError `unavailable` when Temporal doesn't answer in time, `not_found` when it has no such workflow
   */
  async call<T>(work: (client: Client) => Promise<T>, deadlineMs: number = CALL_DEADLINE_MS): Promise<T> {
    const client = await this.connectedClient();
    const answer = client.connection.withDeadline(Date.now() + deadlineMs, () => work(client));
    try {
      return await within(answer, deadlineMs + DEADLINE_SLACK_MS);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw new LonghaulError('not_found', 'operation not found');
      if (isDiskFullError(error)) throw new DiskFullError(this.home, error);
      if (error === OVERDUE || isOutOfReach(error)) throw await this.#unavailable(error);
      throw error;
    }
  }

  /**
   * Describes the current run of a workflow; needs no worker.
   *
   * @param deadlineMs in milliseconds. Default: 2,000
   * @throws LonghaulError `not_found`, `unavailable`
   */
  describe(workflowId: string, deadlineMs?: number): Promise<WorkflowExecutionDescription> {
    return this.call((client) => client.workflow.getHandle(workflowId).describe(), deadlineMs);
  }

  async #unavailable(cause: unknown): Promise<LonghaulError> {
    if (this.#isEmbedded && (await isDiskFull(this.home))) return new DiskFullError(this.home, cause);
    return new LonghaulError(
      'unavailable',
      'Temporal did not answer in time; the work goes on, try again shortly',
      { cause },
    );
  }

  /** Is it this home's own Temporal, with its database on this home's disk? */
  get #isEmbedded(): boolean {
    const address = temporalConnectConfig(this.home)?.connectionOptions.address;
    return address !== undefined && address === readStackState(this.home).temporalAddress;
  }

  /** What this Temporal offers; read once a minute, once for all who ask meanwhile. */
  async facts(): Promise<TemporalFacts> {
    if (this.#facts && performance.now() - this.#factsReadAtMs < FACTS_FRESH_MS) return this.#facts;
    this.#reading ??= this.#readFacts().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readFacts(): Promise<TemporalFacts> {
    const facts = await this.call(async (client) => {
      const { config } = await client.workflowService.describeNamespace({ namespace: this.namespace });
      return {
        retentionSeconds: Number(config?.workflowExecutionRetentionTtl?.seconds ?? 72 * 3600),
        searchAttributes: this.#facts?.searchAttributes || (await this.#ensureSearchAttributes()),
      };
    }, FACTS_DEADLINE_MS);
    if (!facts.searchAttributes && this.#facts?.searchAttributes !== false) {
      this.logger.warn(
        `this Temporal lacks the search attributes ${SEARCH_ATTRIBUTE_NAMES.join(', ')} and they can't be created: ` +
          `lists by them don't work, everything else does`,
      );
    }
    this.#facts = facts;
    this.#factsReadAtMs = performance.now();
    return facts;
  }

  async #ensureSearchAttributes(): Promise<boolean> {
    const { operatorService } = this.#connection!;
    try {
      await addSearchAttributes(operatorService, this.namespace);
      return true;
    } catch (error) {
      if (isOutOfReach(error)) throw error;
      // Another process may have created them at the same time.
      return missingSearchAttributes(operatorService, this.namespace).then(
        (names) => names.length === 0,
        () => false,
      );
    }
  }

  /** What is missing before a call would work; empty when nothing is. */
  async missing(): Promise<string[]> {
    try {
      await this.facts();
      const { pollers } = await this.call((client) =>
        client.workflowService.describeTaskQueue({
          namespace: this.namespace,
          taskQueue: { name: this.taskQueue },
          taskQueueType: 1,
        }),
      );
      const isLive = (seconds: number) => Date.now() / 1000 - seconds < POLLER_SECONDS;
      return pollers?.some(({ lastAccessTime }) => isLive(Number(lastAccessTime?.seconds ?? 0)))
        ? []
        : [`no worker polls the task queue "${this.taskQueue}"`];
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  }

  async close(): Promise<void> {
    this.stopWaiting();
    this.#closing.abort(new Error('closing'));
    await this.#connection?.close();
  }
}

/** What is awaited; rejects with {@link OVERDUE} when that takes longer. */
async function within<T>(awaited: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(OVERDUE), limitMs);
  });
  try {
    return await Promise.race([awaited, overdue]);
  } finally {
    clearTimeout(timer);
  }
}

/** A poll lasts 60 s at most, so a poller that was last seen longer ago is gone. */
const POLLER_SECONDS = 70;

/** Did the call fail because Temporal can't be reached, or not in time? */
export function isOutOfReach(error: unknown): boolean {
  for (
    let at: unknown = error;
    at instanceof Error || (typeof at === 'object' && at !== null);
    at = (at as Error).cause
  ) {
    if (isGrpcServiceError(at) && [DEADLINE_EXCEEDED, UNAVAILABLE, CANCELLED].includes(at.code)) return true;
    if (/transport error|tcp connect error|Timeout expired/i.test((at as Error).message ?? '')) return true;
  }
  return false;
}
