/** The engine's connection to Temporal: a client that connects in the background, deadlines on calls, LonghaulErrors. */
import { setTimeout as delay } from 'node:timers/promises';
import { Client, WorkflowNotFoundError, type WorkflowExecutionDescription } from '@temporalio/client';
import type { LoadedDataConverter } from '@temporalio/common';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { LonghaulError } from '../operations/errors.js';
import type { Settings } from '../platform/config.js';
import { dataConverterOf } from '../platform/data-converter.js';
import {
  GRPC,
  isDenied,
  isGrpcError,
  isThrottled,
  isUnreachable,
  temporalMessage,
} from '../platform/grpc-errors.js';
import type { Logger } from '../platform/log.js';
import { programCommand } from '../platform/program.js';
import { addSearchAttributes, unusableSearchAttributes } from '../platform/search-attributes.js';
import { isDiskFull, isDiskFullError } from '../platform/disk.js';
import type { Storage } from '../platform/storage.js';
import { readStackState, temporalConnectConfig } from '../platform/temporal-address.js';
import { connectTemporal, type TemporalConnection } from '../platform/connect-temporal.js';
import { withTimeout } from '../platform/with-timeout.js';

/** Default deadline of a call to Temporal, in milliseconds; after it, Temporal counts as unavailable. */
export const CALL_DEADLINE_MS = 2_000;

/** How long after its deadline a call is abandoned, in milliseconds: the SDK's core may retry past the deadline. */
const DEADLINE_SLACK_MS = 100;
const OVERDUE = new Error('a call took longer than its deadline');

/** Age from which {@link TemporalFacts} are refreshed, and the deadline for reading them, in milliseconds. */
const FACTS_FRESH_MS = 60_000;
const FACTS_DEADLINE_MS = 5_000;
/** Retention that is assumed where the credentials don't allow reading it, in seconds. */
const ASSUMED_RETENTION_SECONDS = 72 * 3_600;
/** How long new search attributes may take until Temporal knows them, and the pause between looks, in milliseconds. */
const NEW_ATTRIBUTES_LIMIT_MS = 10_000;
const NEW_ATTRIBUTES_POLL_MS = 500;

const WITHOUT_ATTRIBUTES = "lists by them don't work, everything else does";

/** Properties of the namespace and the server. */
export interface TemporalFacts {
  /** How long the namespace keeps closed workflows, in seconds. */
  retentionSeconds: number;
  /** Whether Longhaul's search attributes can be used. Without them everything works except the lists by them. */
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
  #connection: TemporalConnection | undefined;
  #facts: TemporalFacts | undefined;
  readonly #warnings = new Set<string>();
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
    private readonly settings: Pick<Settings, 'home' | 'taskQueue'> &
      Partial<Pick<Settings, 'searchAttributes'>>,
    readonly storage: Storage,
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
      const connected = await connectTemporal(this.settings.home, this.logger, this.#closing.signal);
      const { namespace } = connected;
      const dataConverter = dataConverterOf(this.storage);
      const use = (connection: TemporalConnection['current']) =>
        (this.#client = new Client({ connection, namespace, dataConverter }));
      this.#connection = connected;
      use(connected.current);
      connected.onReplaced(use);
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

  get taskQueue(): string {
    return this.settings.taskQueue;
  }

  get namespace(): string {
    return this.client.options.namespace;
  }

  /**
   * Calls Temporal under a deadline.
   *
   * @param deadlineMs in milliseconds. Default: 2,000
   * @throws LonghaulError `unavailable` if Temporal doesn't answer in time, limits or denies the call, `not_found` if it has no such
   *   workflow
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
      if (isDiskFullError(error)) throw new DiskFullError(this.settings.home, error);
      if (error === OVERDUE || isUnreachable(error)) throw await this.#unavailable(error);
      if (isThrottled(error))
        throw new LonghaulError(
          'unavailable',
          `Temporal limits requests at present (${temporalMessage(error)}); operations keep running, try again shortly`,
          { cause: error },
        );
      if (isDenied(error))
        throw new LonghaulError(
          'unavailable',
          `the server's credentials for Temporal don't allow this: ${temporalMessage(error)}`,
          { cause: error, retryable: false },
        );
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
    if (this.#isEmbedded && (await isDiskFull(this.settings.home)))
      return new DiskFullError(this.settings.home, cause);
    return new LonghaulError(
      'unavailable',
      'Temporal did not answer in time; operations keep running, try again shortly',
      { cause },
    );
  }

  /** Whether this is the home's embedded Temporal, with its database on the home's disk. */
  get #isEmbedded(): boolean {
    const address = temporalConnectConfig(this.settings.home)?.connectionOptions.address;
    return address !== undefined && address === readStackState(this.settings.home).temporalAddress;
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

  /** Does without search attributes, since Temporal has refused a start for them; until they can be used. */
  withoutSearchAttributes(refusal: unknown): void {
    this.#warnOnce(`${temporalMessage(refusal)}; ${WITHOUT_ATTRIBUTES}`);
    if (this.#facts) this.#facts = { ...this.#facts, searchAttributes: false };
  }

  /** Concurrent callers share a read. */
  #refreshFacts(): Promise<TemporalFacts> {
    this.#reading ??= this.#readFacts().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readFacts(): Promise<TemporalFacts> {
    const [retentionSeconds, searchAttributes] = await Promise.all([
      this.#readRetention(),
      this.#facts?.searchAttributes || this.#canUseSearchAttributes(),
    ]);
    this.#facts = { retentionSeconds, searchAttributes };
    this.#factsReadAtMs = performance.now();
    return this.#facts;
  }

  async #readRetention(): Promise<number> {
    try {
      const { config } = await this.call(
        (client) => client.workflowService.describeNamespace({ namespace: this.namespace }),
        FACTS_DEADLINE_MS,
      );
      return Number(config?.workflowExecutionRetentionTtl?.seconds ?? ASSUMED_RETENTION_SECONDS);
    } catch (error) {
      if (isGrpcError(error, GRPC.notFound)) throw this.#noNamespace(error);
      if (!isDenied(error)) throw error;
      const hours = ASSUMED_RETENTION_SECONDS / 3_600;
      this.#warnOnce(`the credentials may not read the namespace's retention; ${hours} hours are assumed`);
      return this.#facts?.retentionSeconds ?? ASSUMED_RETENTION_SECONDS;
    }
  }

  /** Looks at visibility, and creates missing search attributes first if the settings ask for that. */
  async #canUseSearchAttributes(): Promise<boolean> {
    if (this.settings.searchAttributes === 'off') return false;
    const areNew = this.settings.searchAttributes === 'create' && (await this.#createSearchAttributes());
    const limitMs = performance.now() + (areNew ? NEW_ATTRIBUTES_LIMIT_MS : 0);
    for (;;) {
      try {
        const unusable = await this.call(
          ({ workflowService }) => unusableSearchAttributes(workflowService, this.namespace),
          FACTS_DEADLINE_MS,
        );
        if (unusable.length === 0) return true;
        if (performance.now() > limitMs) {
          this.#warnOnce(
            `search attributes can't be used: ${unusable.map(({ name, reason }) => `${name} (${reason})`).join(', ')}; ` +
              `${WITHOUT_ATTRIBUTES}; \`${programCommand()} doctor --fix\` creates missing ones`,
          );
          return false;
        }
      } catch (error) {
        // Nobody knows whether they can be used: a start that is refused for them is repeated without them.
        if (isDenied(error))
          this.#warnOnce(
            `the credentials may not read visibility (${temporalMessage(error)}): lists don't work`,
          );
        return !isGrpcError(error, GRPC.unimplemented);
      }
      await delay(NEW_ATTRIBUTES_POLL_MS);
    }
  }

  /** @returns whether some were created */
  async #createSearchAttributes(): Promise<boolean> {
    try {
      return await this.call(
        () => addSearchAttributes(this.#connection!.current.operatorService, this.namespace),
        FACTS_DEADLINE_MS,
      );
    } catch (error) {
      this.#warnOnce(`search attributes can't be created: ${temporalMessage(error)}`);
      return false;
    }
  }

  #noNamespace(cause: unknown): LonghaulError {
    return new LonghaulError(
      'unavailable',
      `Temporal has no namespace "${this.namespace}"; create it, or set TEMPORAL_NAMESPACE to one that exists`,
      { cause },
    );
  }

  #warnOnce(warning: string): void {
    if (this.#warnings.has(warning)) return;
    this.#warnings.add(warning);
    this.logger.warn(warning);
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
