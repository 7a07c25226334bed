/** The engine's connection to Temporal: a client that connects in the background, deadlines on calls, LonghaulErrors. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Client,
  QueryRejectedError,
  WorkflowNotFoundError,
  type OperatorService,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import {
  ValueError,
  type DataConverter,
  type LoadedDataConverter,
  type PayloadCodec,
} from '@temporalio/common';
import { LRUCache } from 'lru-cache';
import { loadDataConverter } from '../../platform/temporal/internal/payloads.js';
import { LonghaulError, undefinedIf } from '../../operations/errors.js';
import type { Settings } from '../../platform/settings/index.js';
import { dataConverterOf, waitsForStorage } from '../../platform/temporal/data-converter.js';
import {
  GRPC,
  isDenied,
  isGrpcError,
  isThrottled,
  isTransient,
  isUnreachable,
  temporalMessage,
} from '../../platform/temporal/grpc-errors.js';
import type { Logger } from '../../platform/observe/log.js';
import { readableMemos } from '../../platform/temporal/memo.js';
import { decodingOnly } from '../../platform/temporal/payload-codec.js';
import { OLDEST_SERVER } from '../../platform/temporal/address.js';
import { isDiskFull, isDiskFullError } from '../../platform/home/disk.js';
import { StorageError, type Storage } from '../../platform/storage/index.js';
import { runUrl, temporalUiOf, usesEmbeddedTemporal } from './ui.js';
import { connectTemporal, type TemporalConnection } from '../../platform/temporal/connect.js';
import { isOfVersion } from '../../platform/temporal/deployments.js';
import {
  describeQueue,
  isPolling,
  type Poller,
  type QueueState,
} from '../../platform/temporal/host-presence.js';
import { temporalNowMs, temporalTime, type TemporalTime } from '../../platform/temporal/time.js';
import { failed, OK, type Checks } from '../../platform/observe/health/checks.js';
import { withTimeout } from '../../platform/with-timeout.js';
import { NamespaceFacts, type TemporalFacts } from './namespace-facts.js';
import { headerInterceptor, traceInterceptor } from './trace-calls.js';
import { VisibilityBudget, type VisibilityUse } from '../list/visibility-budget.js';

/** Default deadline of a call, in milliseconds, after which Temporal counts as unavailable. */
export const CALL_DEADLINE_MS = 2_000;

/** How long after its deadline a call is abandoned, in milliseconds. The SDK's core may retry past the deadline. */
const DEADLINE_SLACK_MS = 100;
/** Visibility calls per second without a limit in the settings. */
const UNLIMITED_VISIBILITY_CALLS = 1_000;
/** How long a task queue's description serves further readers, in milliseconds, and of how many queues. */
const QUEUE_FRESH_MS = 3_000;
const MAX_QUEUES = 100;
const NO_ROOM = "the disk of Temporal's database is full: nothing is stored until there is room";
const OVERDUE = new Error('a call took longer than its deadline');

/** The disk is full: the embedded Temporal can't write, or storage can't take a large value. */
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
  readonly #converter: DataConverter;
  #client: Client | undefined;
  /** Keeps values out of Longhaul's storage. */
  #plainClient: Client | undefined;
  #connection: TemporalConnection | undefined;
  readonly #connecting: Promise<TemporalConnection>;
  /** Clients of other namespaces over the same connection. */
  readonly #namespaces = new Map<string, TemporalClient>();
  readonly #facts: NamespaceFacts;
  /** Log lines about features that this Temporal lacks. */
  readonly #lacking = new Set<string>();
  readonly #visibility: VisibilityBudget;
  readonly #queues = new LRUCache<string, QueueState>({
    max: MAX_QUEUES,
    ttl: QUEUE_FRESH_MS,
    fetchMethod: (queue) => this.call((client) => describeQueue(client, queue, 'workflows')),
  });
  #closing = new AbortController();
  /** Ends all waits for the first connection. */
  readonly #stoppedWaiting = new AbortController();
  readonly #firstConnection: Promise<void>;
  /** Resolves after the first connection, or when the client is closed. */
  readonly whenConnected: Promise<void>;

  /** @param firstConnectionLimitMs how long after construction calls wait to connect, in milliseconds; then `unavailable`. Default: 0 */
  constructor(
    private readonly settings: Pick<Settings, 'home' | 'taskQueue'> &
      Partial<
        Pick<
          Settings,
          | 'searchAttributes'
          | 'visibilityCallsPerSecond'
          | 'maxHistoryPolls'
          | 'temporalUi'
          | 'authentication'
        >
      >,
    readonly storage: Storage,
    private readonly logger: Logger,
    private readonly firstConnectionLimitMs = 0,
    /** Codec of the workers of external workflows. */
    private readonly codec?: PayloadCodec,
    /** Another client's connection, and the namespace to use on it. Default: its own connection, and its settings' namespace. */
    private readonly shared?: { connecting: Promise<TemporalConnection>; namespace: string },
  ) {
    this.#converter = dataConverterOf(storage, codec && decodingOnly(codec));
    this.dataConverter = loadDataConverter(this.#converter);
    this.#visibility = new VisibilityBudget(settings.visibilityCallsPerSecond ?? UNLIMITED_VISIBILITY_CALLS);
    this.#facts = new NamespaceFacts(this, settings.searchAttributes ?? 'auto', logger);
    const limit = delay(firstConnectionLimitMs, undefined, {
      signal: this.#stoppedWaiting.signal,
      ref: false,
    }).catch(() => undefined);
    this.#connecting =
      shared?.connecting ?? connectTemporal(this.settings.home, this.logger, this.#closing.signal);
    this.whenConnected = this.#connect();
    this.#firstConnection = Promise.race([this.whenConnected, limit]);
  }

  async #connect(): Promise<void> {
    try {
      const connected = await this.#connecting;
      const { namespace } = this.shared ?? connected;
      const dataConverter = this.#converter;
      const plainConverter = this.codec ? { payloadCodecs: [this.codec] } : {};
      const interceptors = {
        workflow: [traceInterceptor, headerInterceptor, readableMemos(dataConverter)],
      };
      const use = (connection: TemporalConnection['current']) => {
        this.#client = new Client({ connection, namespace, dataConverter, interceptors });
        this.#plainClient = new Client({
          connection,
          namespace,
          dataConverter: plainConverter,
          interceptors,
        });
      };
      this.#connection = connected;
      use(connected.current);
      connected.onReplaced(use);
    } catch (error) {
      if (!this.#closing.signal.aborted) this.logger.error({ err: error }, 'connecting to Temporal failed');
    }
  }

  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  /** Ends the wait for the first connection: waiting and later calls fail at once. */
  stopWaiting(): void {
    this.#stoppedWaiting.abort();
  }

  /** @throws LonghaulError `unavailable` while there is no connection yet */
  get client(): Client {
    if (!this.#client) throw notConnected();
    return this.#client;
  }

  /** Waits for the first connection, up to the constructor's limit. @throws LonghaulError `unavailable` if it isn't connected by then */
  async connectedClient(): Promise<Client> {
    await this.#firstConnection;
    return this.client;
  }

  get taskQueue(): string {
    return this.settings.taskQueue;
  }

  /** Maximum number of history long polls at a time; undefined if the settings have none. */
  get maxHistoryPolls(): number | undefined {
    return this.settings.maxHistoryPolls;
  }

  /** Number of calls that wait for the visibility budget. */
  get waitingVisibilityCount(): number {
    return this.#visibility.waitingCount;
  }

  get namespace(): string {
    return this.client.options.namespace;
  }

  /** @throws LonghaulError `unavailable` while there is no connection yet */
  get operatorService(): OperatorService {
    if (!this.#connection) throw notConnected();
    return this.#connection.current.operatorService;
  }

  /**
   * Calls Temporal under a deadline.
   *
   * @param deadlineMs in milliseconds. Default: 2,000
   * @throws LonghaulError `unavailable` if Temporal doesn't answer in time, limits or denies the call, or is too old for it; `not_found` if
   *   it has no such workflow
   */
  async call<T>(work: (client: Client) => Promise<T>, deadlineMs: number = CALL_DEADLINE_MS): Promise<T> {
    const client = await this.connectedClient();
    const answer = client.connection.withDeadline(Date.now() + deadlineMs, () => work(client));
    try {
      return await withTimeout(answer, deadlineMs + DEADLINE_SLACK_MS, () => {
        throw OVERDUE;
      });
    } catch (error) {
      const unavailable = (message: string, isRetryable = true) =>
        new LonghaulError('unavailable', message, { cause: error, retryable: isRetryable });
      if (error instanceof WorkflowNotFoundError) throw new LonghaulError('not_found', 'operation not found');
      if (error instanceof QueryRejectedError)
        throw unavailable('the workflow is paused in Temporal, and answers once it is resumed there');
      if (isDiskFullError(error)) throw new DiskFullError(this.settings.home, error);
      if (error === OVERDUE && waitsForStorage(this.storage))
        throw new StorageError(
          'storage of large values did not answer in time; operations keep running, try again shortly',
          { retryable: true },
        );
      if (error === OVERDUE || isUnreachable(error)) throw await this.#unavailable(error);
      if (isThrottled(error))
        throw unavailable(
          `Temporal limits requests at present (${temporalMessage(error)}); operations keep running, try again shortly`,
        );
      if (isDenied(error))
        throw unavailable(
          `the server's credentials for Temporal don't allow this: ${temporalMessage(error)}`,
          false,
        );
      if (isGrpcError(error, GRPC.unimplemented)) throw this.#tooOld(error);
      if (isTransient(error))
        throw unavailable(
          `Temporal can't do this at present (${temporalMessage(error)}); operations keep running, try again shortly`,
        );
      if (error instanceof ValueError)
        throw unavailable(
          `a value of the workflow can't be read: ${error.message}; this server may lack its codec`,
          false,
        );
      throw error;
    }
  }

  /** Calls with values that every worker can read: none goes to Longhaul's storage. @throws LonghaulError as {@link call} */
  callPlain<T>(work: (client: Client) => Promise<T>, deadlineMs?: number): Promise<T> {
    return this.call(() => work(this.#plainClient!), deadlineMs);
  }

  /** A client of another namespace over the same connection. @param namespace undefined: this client */
  inNamespace(namespace: string | undefined): TemporalClient {
    if (namespace === undefined || (this.isConnected && namespace === this.namespace)) return this;
    let other = this.#namespaces.get(namespace);
    if (!other) {
      const shared = { connecting: this.#connecting, namespace };
      other = new TemporalClient(
        this.settings,
        this.storage,
        this.logger,
        this.firstConnectionLimitMs,
        this.codec,
        shared,
      );
      this.#namespaces.set(namespace, other);
    }
    return other;
  }

  /**
   * Calls Temporal's visibility store once the process's budget allows. A list fails if that takes longer than the deadline.
   *
   * @param deadlineMs in milliseconds. Default: 2,000
   * @throws LonghaulError `unavailable`, as {@link call}
   */
  async callVisibility<T>(
    use: VisibilityUse,
    work: (client: Client) => Promise<T>,
    deadlineMs: number = CALL_DEADLINE_MS,
  ): Promise<T> {
    const isAwaited = use === 'list' || use === 'rest of a list';
    await this.#visibility.take(use, isAwaited ? deadlineMs : undefined);
    return this.call(work, deadlineMs);
  }

  /** Describes the current run; needs no worker. @param deadlineMs Default: 2,000 @throws LonghaulError `not_found`, `unavailable` */
  describe(workflowId: string, deadlineMs?: number): Promise<WorkflowExecutionDescription> {
    return this.call((client) => client.workflow.getHandle(workflowId).describe(), deadlineMs);
  }

  /** Pollers for a task queue's workflow tasks, and its current build; some seconds old at most. @throws LonghaulError `unavailable` */
  queueState(queue: string): Promise<QueueState> {
    return this.#queues.forceFetch(queue);
  }

  /** Temporal's time, as this connection knows it; the local time until it does. */
  get time(): TemporalTime {
    return temporalTime(this.#client?.connection ?? this);
  }

  /** Temporal's time in epoch milliseconds, at most a minute behind ({@link temporalNowMs}). */
  async nowMs(): Promise<number> {
    return this.#client ? temporalNowMs(this.#client) : this.time.nowMs;
  }

  async #unavailable(cause: unknown): Promise<LonghaulError> {
    if (usesEmbeddedTemporal(this.settings.home) && (await isDiskFull(this.settings.home)))
      return new DiskFullError(this.settings.home, cause);
    return new LonghaulError(
      'unavailable',
      'Temporal did not answer in time; operations keep running, try again shortly',
      { cause },
    );
  }

  /** Temporal's message names the method. */
  #tooOld(cause: unknown): LonghaulError {
    const problem = `this Temporal is too old: ${temporalMessage(cause)}; Longhaul needs server ${OLDEST_SERVER} or newer`;
    if (!this.#lacking.has(problem)) this.logger.warn(problem);
    this.#lacking.add(problem);
    return new LonghaulError('unavailable', problem, { cause, retryable: false });
  }

  /** Address of a run in Temporal's UI; undefined unless callers may see it. */
  urlOf(workflowId: string, runId: string): string | undefined {
    const ui = temporalUiOf(this.settings);
    return ui === undefined ? undefined : runUrl(ui, this.namespace, workflowId, runId);
  }

  /** Properties of the namespace. Only the first callers wait; the background refreshes them. */
  facts(): Promise<TemporalFacts> {
    return this.#facts.read();
  }

  /** Starts without a refused search attribute until Temporal accepts it again. */
  withoutSearchAttributes(refusal: unknown): void {
    this.#facts.withoutSearchAttributes(refusal);
  }

  /** Whether Temporal would serve reads and starts, whether workers would take new operations, and which ones poll. */
  async readiness(): Promise<{ checks: Checks; workers: Poller[] }> {
    try {
      await this.facts();
      const [state] = await Promise.all([
        this.call((client) => describeQueue(client, this.taskQueue, 'workflows')),
        this.#assertUsable(),
      ]);
      const problem = workersProblem(this.taskQueue, state);
      const checks = { temporal: OK, workers: problem === undefined ? OK : failed(problem) };
      return { checks, workers: state.pollers };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      // Anyone may read it, so it omits the path.
      const temporal = failed(error instanceof DiskFullError ? NO_ROOM : message);
      return { checks: { temporal }, workers: [] };
    }
  }

  /** Reads a missing workflow: a Temporal that can't write describes task queues, but refuses this. @throws LonghaulError `unavailable` */
  async #assertUsable(): Promise<void> {
    const { home } = this.settings;
    if (usesEmbeddedTemporal(home) && (await isDiskFull(home))) throw new DiskFullError(home, undefined);
    await this.describe(`longhaul-readiness-${randomUUID()}`).catch(undefinedIf('not_found'));
  }

  async close(): Promise<void> {
    this.stopWaiting();
    this.#closing.abort(new Error('closing'));
    for (const other of this.#namespaces.values()) other.stopWaiting();
    if (!this.shared) await this.#connection?.close();
  }
}

function notConnected(): LonghaulError {
  return new LonghaulError('unavailable', 'Temporal is not connected yet; try again shortly');
}

/** Why new operations would wait for a worker, in one line. */
function workersProblem(taskQueue: string, { pollers, current }: QueueState): string | undefined {
  const live = pollers.filter(isPolling);
  if (live.length === 0) return `no worker polls the task queue "${taskQueue}"`;
  // Unversioned workers take tasks while no build is current.
  if (live.some((poller) => isOfVersion(poller, current))) return undefined;
  return current === undefined
    ? `no build of the workers of the task queue "${taskQueue}" is current: see \`longhaul deploy status\``
    : `no worker of the current build ${current.buildId} polls the task queue "${taskQueue}"`;
}
