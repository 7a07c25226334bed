/** The engine's connection to Temporal: a client that connects in the background, deadlines on calls, LonghaulErrors. */
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
import { withTimeout } from '../platform/with-timeout.js';

/** Default deadline of a call to Temporal, in milliseconds; after it, Temporal counts as unavailable. */
export const CALL_DEADLINE_MS = 2_000;

/** How long after its deadline a call is abandoned, in milliseconds: the SDK's core may retry past the deadline. */
const DEADLINE_SLACK_MS = 100;
const OVERDUE = new Error('a call took longer than its deadline');

/** gRPC status codes of calls that may succeed later. */
const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;
const CANCELLED = 1;

/** Age from which {@link TemporalFacts} are refreshed, and the deadline for reading them, in milliseconds. */
const FACTS_FRESH_MS = 60_000;
const FACTS_DEADLINE_MS = 5_000;

/** Properties of the namespace and the server. */
export interface TemporalFacts {
  /** How long the namespace keeps closed workflows, in seconds. */
  retentionSeconds: number;
  /** Whether Longhaul's search attributes exist. Without them everything works except the lists by them. */
  searchAttributes: boolean;
}

/** The disk is full: the embedded Temporal's database can't grow, or a large value can't be stored. */
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
  /** Decodes the payloads that describe leaves encoded. */
  readonly dataConverter: LoadedDataConverter;
  #client: Client | undefined;
  #connection: NativeConnection | undefined;
  #facts: TemporalFacts | undefined;
  /** Monotonic clock, in milliseconds. */
  #factsReadAtMs = 0;
  #reading: Promise<TemporalFacts> | undefined;
  #closing = new AbortController();
  /** Ends all waits for the first connection. */
  readonly #stoppedWaiting = new AbortController();
  readonly #firstConnection: Promise<void>;
  /** Resolves once the first connection has been made, or the client is closed. */
  readonly whenConnected: Promise<void>;

  /**
   * @param firstConnectionLimitMs how long calls wait for the first connection, in milliseconds from construction, before
   *   they fail with `unavailable`. Default: 0
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
      signal: this.#stoppedWaiting.signal,
      ref: false,
    }).catch(() => undefined);
    this.whenConnected = this.#connect();
    this.#firstConnection = Promise.race([this.whenConnected, limit]);
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

  /** Whether the first connection has been made. */
  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  /** Ends the wait for the first connection: waiting calls fail now, and later ones immediately. */
  stopWaiting(): void {
    this.#stoppedWaiting.abort();
  }

  /** @throws LonghaulError `unavailable` while there is no connection yet */
  get client(): Client {
    if (!this.#client)
      throw new LonghaulError('unavailable', 'Temporal is not connected yet; try again shortly');
    return this.#client;
  }

  /**
   * The client, once it is connected: waits for the first connection up to the constructor's limit.
   *
   * @throws LonghaulError `unavailable` if it isn't connected by then
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
   * @param deadlineMs in milliseconds. Default: 2,000
   * @throws LonghaulError `unavailable` if Temporal doesn't answer in time, `not_found` if it has no such workflow
   */
  async call<T>(work: (client: Client) => Promise<T>, deadlineMs: number = CALL_DEADLINE_MS): Promise<T> {
    const client = await this.connectedClient();
    const answer = client.connection.withDeadline(Date.now() + deadlineMs, () => work(client));
    try {
      return await withTimeout(answer, deadlineMs + DEADLINE_SLACK_MS, () => {
        throw OVERDUE;
      });
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw new LonghaulError('not_found', 'operation not found');
      if (isDiskFullError(error)) throw new DiskFullError(this.home, error);
      if (error === OVERDUE || isUnreachable(error)) throw await this.#unavailable(error);
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
      'Temporal did not answer in time; operations keep running, try again shortly',
      { cause },
    );
  }

  /** Whether this is the home's embedded Temporal, with its database on the home's disk. */
  get #isEmbedded(): boolean {
    const address = temporalConnectConfig(this.home)?.connectionOptions.address;
    return address !== undefined && address === readStackState(this.home).temporalAddress;
  }

  /** Properties of this Temporal. Only the first callers wait for them; they are refreshed in the background. */
  async facts(): Promise<TemporalFacts> {
    if (!this.#facts) return this.#refreshFacts();
    if (performance.now() - this.#factsReadAtMs > FACTS_FRESH_MS)
      this.#refreshFacts().catch((error: unknown) =>
        this.logger.debug({ err: error }, "the properties of Temporal can't be read"),
      );
    return this.#facts;
  }

  /** Concurrent callers share a read. */
  #refreshFacts(): Promise<TemporalFacts> {
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
      if (isUnreachable(error)) throw error;
      // Another process may have created them at the same time.
      return missingSearchAttributes(operatorService, this.namespace).then(
        (names) => names.length === 0,
        () => false,
      );
    }
  }

  /** Readiness problems, one line each; empty if calls would work. */
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

/** Age from which a poller counts as gone, in seconds: a poll lasts 60 s at most. */
const POLLER_SECONDS = 70;

/** Whether a call failed because Temporal is unreachable or did not answer in time. */
export function isUnreachable(error: unknown): boolean {
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
