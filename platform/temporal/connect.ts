/**
 * Connects to Temporal with retries, so a process can start first. Uses the native connection for clients too, at half the CPU of
 * the JavaScript one, and rereads API keys and certificates.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ClientConnectConfig } from '@temporalio/envconfig';
import { GRPC, isDenied, isGrpcError, isThrottled, isUnreachable, temporalMessage } from './grpc-errors.js';
import type { Logger } from '../observe/log.js';
import { areMetricsOn, count, observe } from '../observe/metrics/index.js';
import { temporalConnectConfig } from './connect-config.js';
import { NativeConnection } from './internal/native.js';
import { installRuntime } from './runtime.js';
import { followTime } from './time.js';

const RETRY_MS = 500;
/** Interval for rereading the connection's settings. */
const RENEWAL_INTERVAL_MS = 30_000;
/** A replaced connection stays open this long for pending calls: longer than a long poll. */
const REPLACED_GRACE_MS = 90_000;

type ConnectOptions = ClientConnectConfig['connectionOptions'];

/** A connection that is replaced when its address, API key or certificates change. */
export class TemporalConnection {
  readonly #listeners = new Set<(connection: NativeConnection) => void>();
  readonly #replaced = new Set<NativeConnection>();
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  /** @param options the options of `connection` */
  constructor(
    private readonly home: string,
    private readonly logger: Logger,
    readonly namespace: string,
    private connection: NativeConnection,
    private options: ConnectOptions,
  ) {
    this.#timer = setInterval(() => void this.renew(), RENEWAL_INTERVAL_MS).unref();
  }

  /** The connection for a call now. Don't keep it. */
  get current(): NativeConnection {
    return this.connection;
  }

  /** Calls the listener with each new connection. */
  onReplaced(listener: (connection: NativeConnection) => void): void {
    this.#listeners.add(listener);
  }

  /** Rereads the settings and applies changes. A failure leaves the connection as it is. */
  async renew(): Promise<void> {
    try {
      const options = temporalConnectConfig(this.home)?.connectionOptions;
      if (this.#isClosed || !options || isDeepStrictEqual(options, this.options)) return;
      const { apiKey, ...others } = options;
      const { apiKey: _apiKey, ...before } = this.options;
      const isKeyAlone = isDeepStrictEqual(others, before);
      if (isKeyAlone && typeof apiKey === 'string') await this.connection.setApiKey(apiKey);
      else await this.#replace(options);
      this.options = options;
      this.logger.info(
        isKeyAlone ? 'the API key for Temporal has changed' : 'the connection to Temporal was replaced',
      );
    } catch (error) {
      this.logger.warn(
        { err: error },
        `changed settings of the connection to Temporal can't be used: ${temporalMessage(error)}`,
      );
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await Promise.all([this.connection, ...this.#replaced].map((connection) => connection.close()));
  }

  async #replace(options: ConnectOptions): Promise<void> {
    const before = this.connection;
    this.connection = measureCalls(followTime(await NativeConnection.connect(options)));
    for (const listener of this.#listeners) listener(this.connection);
    this.#replaced.add(before);
    setTimeout(() => {
      if (this.#isClosed) return;
      this.#replaced.delete(before);
      before
        .close()
        .catch((error: unknown) => this.logger.debug({ err: error }, 'closing a connection failed'));
    }, REPLACED_GRACE_MS).unref();
  }
}

/**
 * Connects to Temporal, retrying without a limit.
 *
 * @param home the embedded stack's home, used when the environment names no Temporal
 * @param signal stops the attempts; the promise then rejects with its reason
 */
export async function connectTemporal(
  home: string,
  logger: Logger,
  signal?: AbortSignal,
): Promise<TemporalConnection> {
  installRuntime(logger);
  let said = '';
  for (;;) {
    signal?.throwIfAborted();
    let problem: string;
    try {
      const config = temporalConnectConfig(home);
      if (!config) problem = 'no Temporal is named (TEMPORAL_ADDRESS) and none runs in this home';
      else {
        const { connectionOptions, namespace = 'default' } = config;
        try {
          const connection = measureCalls(followTime(await NativeConnection.connect(connectionOptions)));
          return new TemporalConnection(home, logger, namespace, connection, connectionOptions);
        } catch (error) {
          problem = `no Temporal at ${connectionOptions.address}: ${temporalMessage(error)}`;
        }
      }
    } catch (error) {
      problem = `the settings of the connection to Temporal can't be read: ${temporalMessage(error)}`;
    }
    if (problem !== said) logger.warn(`${problem}; trying again`);
    said = problem;
    await delay(RETRY_MS, undefined, { signal, ref: true });
  }
}

/** Label for polls of a history's next event, which last until there is one. */
const LONG_POLL = 'GetWorkflowExecutionHistory (long poll)';

type Callback = (error: Error | null, response?: unknown) => void;
type Method = (request: object, callback?: Callback) => Promise<unknown> | undefined;

/** Measures the calls on a connection, by gRPC method. */
function measureCalls<Connection extends Pick<NativeConnection, 'workflowService'>>(
  connection: Connection,
): Connection {
  if (!areMetricsOn()) return connection;
  const service = connection.workflowService as unknown as Record<string, unknown>;
  // protobufjs makes a separate function for each method of the service.
  for (const [name, method] of Object.entries(service))
    if (typeof method === 'function' && name !== 'rpcImpl')
      service[name] = measured(
        name.charAt(0).toUpperCase() + name.slice(1),
        (method as Method).bind(connection.workflowService),
      );
  return connection;
}

function measured(name: string, call: Method): Method {
  return (request, callback) => {
    const method = 'waitNewEvent' in request && request.waitNewEvent ? LONG_POLL : name;
    const startedMs = performance.now();
    const end = (error: unknown) => record(method, (performance.now() - startedMs) / 1_000, error);
    if (callback)
      return call(request, (error, response) => {
        end(error ?? undefined);
        callback(error, response);
      });
    const answer = call(request);
    answer?.then(() => end(undefined), end);
    return answer;
  };
}

function record(method: string, seconds: number, error: unknown): void {
  const isRefused = error !== undefined && isThrottled(error);
  // Start counting with the first call, so that the first refusal shows as an increase.
  count('longhaul_temporal_throttled_total', { method }, isRefused ? 1 : 0);
  observe('longhaul_temporal_request_duration_seconds', { method, outcome: outcomeOf(error) }, seconds);
}

function outcomeOf(error: unknown): string {
  if (error === undefined) return 'ok';
  if (isThrottled(error)) return 'throttled';
  if (isUnreachable(error)) return 'unavailable';
  if (isDenied(error)) return 'denied';
  // Answers about the workflow that callers handle: it doesn't exist, has ended, or has already begun.
  return isGrpcError(error, GRPC.notFound, GRPC.failedPrecondition, GRPC.invalidArgument, GRPC.alreadyExists)
    ? 'refused'
    : 'error';
}
