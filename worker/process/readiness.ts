/** Readiness of a worker: whether it polls all its task queues and could do their work. */
import type { Client } from '@temporalio/client';
import type { Worker } from '@temporalio/worker';
import {
  failed,
  freshFor,
  OK,
  readinessOf,
  SAME_SECRET,
  StorageChecks,
  warning,
  type Check,
  type Checks,
  type ReadinessBody,
} from '../../platform/observe/health/checks.js';
import { hostTaskQueue, placementTaskQueue, stepTaskQueue } from '../../pipelines/run.js';
import type { Settings } from '../../platform/settings/index.js';
import { temporalMessage } from '../../platform/temporal/grpc-errors.js';
import type { Storage } from '../../platform/storage/index.js';
import { withTimeout } from '../../platform/with-timeout.js';

/** Deadline of the call that probes Temporal, and how long its outcome counts, in milliseconds. */
const CALL_LIMIT_MS = 2_000;
const FRESH_MS = 5_000;
/** How long a start signed with another key is reported, in milliseconds. */
const OTHER_KEY_MS = 3600_000;

export interface StartedWorker {
  client: () => Client;
  /** Workers of Temporal's SDK that haven't stopped. */
  workers: () => Worker[];
  taskQueue: string;
  role: Settings['workerRole'];
  host: string;
}

export class WorkerReadiness {
  readonly #storage: StorageChecks;
  readonly #answers = freshFor(FRESH_MS, () => this.#call(this.#started!));
  #started: StartedWorker | undefined;
  #isStopping = false;
  #otherKey: { keyId: string; atMs: number } | undefined;

  constructor(home: string, storage: Storage) {
    this.#storage = new StorageChecks(home, storage);
  }

  started(worker: StartedWorker): void {
    this.#started = worker;
  }

  stopping(): void {
    this.#isStopping = true;
  }

  sawOtherKey(keyId: string): void {
    this.#otherKey = { keyId, atMs: performance.now() };
  }

  async read(): Promise<ReadinessBody> {
    const [temporal, ofStorage] = await Promise.all([this.#temporal(), this.#storage.read()]);
    return readinessOf({
      temporal,
      ...this.#pollers(),
      ...ofStorage,
      secret: this.#secret(),
      shutdown: this.#isStopping ? failed('the worker stops: it takes no further tasks') : OK,
    });
  }

  #temporal(): Promise<Check> {
    if (!this.#started) return Promise.resolve(failed('the worker has not connected to Temporal yet'));
    return this.#answers();
  }

  async #call({ client }: StartedWorker): Promise<Check> {
    const { connection } = client();
    const answered = connection
      .withDeadline(Date.now() + CALL_LIMIT_MS, () => connection.workflowService.getSystemInfo({}))
      .then(
        () => OK,
        (error: unknown) => failed(`Temporal does not answer: ${temporalMessage(error)}`),
      );
    return withTimeout(answered, CALL_LIMIT_MS + 100, () =>
      failed(`Temporal does not answer within ${CALL_LIMIT_MS / 1_000} s`),
    );
  }

  #pollers(): Checks {
    if (!this.#started) return { workflows: failed('the worker has not started yet') };
    const { workers, taskQueue, role, host } = this.#started;
    const running = workers();
    const ofTools = {
      workflows: polled(running, 'workflow', taskQueue),
      activities: polled(running, 'activity', taskQueue),
    };
    const ofHost = {
      jobs: polled(running, 'activity', placementTaskQueue(taskQueue)),
      host: polled(running, 'activity', hostTaskQueue(taskQueue, host)),
      steps: polled(running, 'activity', stepTaskQueue(taskQueue, host)),
    };
    return { ...(role === 'host' ? {} : ofTools), ...(role === 'workflows' ? {} : ofHost) };
  }

  #secret(): Check {
    if (!this.#otherKey || performance.now() - this.#otherKey.atMs > OTHER_KEY_MS) return OK;
    return warning(
      `operations were started with the key ${this.#otherKey.keyId}, and this worker has another: ${SAME_SECRET}`,
    );
  }
}

/** Whether one of the SDK's Workers polls a task queue, by its own status. */
function polled(workers: Worker[], kind: 'workflow' | 'activity', taskQueue: string): Check {
  const own = workers.filter(({ options }) => options.taskQueue === taskQueue);
  const states = own.map((worker) => {
    const status = worker.getStatus();
    const poller = kind === 'workflow' ? status.workflowPollerState : status.activityPollerState;
    return { run: status.runState, poller };
  });
  if (states.some(({ run, poller }) => run === 'RUNNING' && poller === 'POLLING')) return OK;
  const found = states.map(({ run, poller }) => `${run}, poller ${poller}`).join('; ') || 'not started';
  return failed(`no poller for ${kind} tasks of the task queue "${taskQueue}": ${found}`);
}
