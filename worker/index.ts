/** The Temporal worker: runs the tools' workflows and activities, and jobs of pipelines. You can run any number of workers. */
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { loadDataConverter } from '../platform/temporal/internal/payloads.js';
import { hostId } from './steps/host.js';
import { HostSteps } from './steps/host-steps.js';
import { stepTaskQueue } from '../pipelines/run.js';
import { givenVersion, type Settings } from '../platform/settings/index.js';
import { prepareMetrics, startProcessHealth } from '../platform/observe/health/process-health.js';
import { openMeasuredStorage } from '../platform/observe/metrics/storage.js';
import { dataConverterOf } from '../platform/temporal/data-converter.js';
import type { Logger } from '../platform/observe/log.js';
import { readableMemos } from '../platform/temporal/memo.js';
import { requireNamespace } from '../platform/temporal/namespace.js';
import { workerIdentity } from '../platform/temporal/host-presence.js';
import { loadSecret } from '../platform/home/secret.js';
import { Signer } from '../platform/temporal/signer.js';
import {
  storageChoice,
  storageErrorIn,
  storageName,
  verifyStorage,
  type Storage,
  type StorageChoice,
} from '../platform/storage/index.js';
import { startTracing } from '../platform/observe/tracing/index.js';
import { connectTemporal } from '../platform/temporal/connect.js';
import { withJitter } from '../platform/jitter.js';
import { ActivityCode } from './process/activity-code.js';
import { activityInterceptors } from './process/activity-interceptor.js';
import { bundleInChildProcess } from './versions/bundle.js';
import { adoptSteps } from './steps/adopt-steps.js';
import { catchStrayErrors } from './process/stray-errors.js';
import { startBackgroundTasks } from './process/background-tasks.js';
import { storeCrashes } from './process/workflow-threads/quarantine.js';
import { EventLoopWatchdog } from './process/event-loop/watchdog.js';
import { outcomeReporter } from './process/report-outcome.js';
import { localActivities } from './process/local-activities.js';
import {
  Drain,
  WorkerFactory,
  type SharedOptions,
  allEnded,
  countDraining,
  WorkerGroup,
} from './process/workers.js';
import { followEdits } from './versions/follow-edits.js';
import { LineReserve } from './logs/line-reserve.js';
import { OperationLoggers } from './logs/operation-loggers.js';
import { OperationLogs } from './logs/operation-logs.js';
import { QueueWaits, WorkerMetrics } from './process/metrics.js';
import { ReplayCheck } from './replay/replay-check.js';
import { traceSinks } from './process/trace-work.js';
import { startVerifier } from './process/verify-start.js';
import { deploymentOf, SingleBuildHost } from './versions/single-build-host.js';
import { WorkerReadiness } from './process/readiness.js';
import { WorkflowCode, type WorkflowHost } from './versions/workflow-code.js';
import { guardWorkflows } from './process/workflow-threads/guard.js';
import { KeptCode } from './versions/kept-code.js';
import { UnversionedHost } from './versions/unversioned-host.js';

/** First and longest pause between two looks for storage at the start, in milliseconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

export interface RunningWorker {
  /** Stops polling, gives running activities the drain timeout, and resolves when everything has stopped. */
  stop(): Promise<void>;
  stopLimitMs: number;
  /** Resolves once the worker has stopped; rejects if it failed. */
  done: Promise<void>;
}

/**
 * Starts a worker; waits for Temporal if it isn't up yet.
 *
 * @throws ProjectError when a file of activities can't be loaded, or no workflow of the project can be bundled
 * @throws LonghaulError `unavailable` when the namespace is missing, the credentials don't allow describing it, or storage refuses
 */
export async function startWorker(settings: Settings, logger: Logger): Promise<RunningWorker> {
  const endTracing = await startTracing('worker', logger);
  const endCatching = catchStrayErrors(logger);
  const stopping = new AbortController();
  const drain = new Drain(settings.drainTimeoutMs, logger);
  const loadedSinceMs = Date.now();
  await prepareMetrics(settings, 'worker');
  const storage = openMeasuredStorage(settings);
  const readiness = new WorkerReadiness(settings.home, storage);
  const endHealth = await startProcessHealth(settings, () => readiness.read(), logger);
  const signer = new Signer(loadSecret(settings.home));
  const isHost = settings.workerRole !== 'workflows';
  const runsWorkflows = settings.workerRole !== 'host';
  const [bundle, activities, temporal] = await Promise.all([
    runsWorkflows ? bundleInChildProcess(settings, { leavesOut: true }) : undefined,
    ActivityCode.load(settings, localActivities(signer)),
    connectTemporal(settings.home, logger, stopping.signal),
  ]);
  await requireNamespace(temporal);
  const { namespace } = temporal;
  const storageId = await awaitUsableStorage(storage, settings, logger, stopping.signal);
  const steps = new HostSteps({ settings, storage });
  const dataConverter = dataConverterOf(storage);
  const identity = workerIdentity(hostId(settings.home), storageId);
  const reportOutcome = outcomeReporter({
    temporal,
    identity,
    dataConverter: loadDataConverter(dataConverter),
    drainEnding: drain.ending,
    logger,
  });
  const reserve = new LineReserve(settings.home);
  const logs = new OperationLogs({ storage, logger, reserve });
  const recoverLines = () => reserve.recover((workflowId, lines) => logs.restore(workflowId, lines));
  // Before this worker adds lines of its own. If the disk is still full, the background tasks try again.
  await recoverLines().catch((error: unknown) =>
    logger.warn({ err: error }, "lines of operations' logs of a worker that was killed can't be written yet"),
  );
  const loggers = new OperationLoggers(logs, logger);
  const onOtherKey = (keyId: string) => readiness.sawOtherKey(keyId);
  const verifyStart = startVerifier(signer, settings.unsignedStarts, logger, onOtherKey);
  const clientInterceptors = { workflow: [readableMemos(dataConverter)] };
  const client = () =>
    new Client({
      ...{ connection: temporal.current, namespace, dataConverter, identity },
      interceptors: clientInterceptors,
    });
  const waits = new QueueWaits(temporal, client);
  await waits.refresh();
  const metrics = new WorkerMetrics(settings.taskQueue);
  const fileOf = (activityType: string) => activities.fileOf(activityType);
  const watchdog = new EventLoopWatchdog(settings, storage, logger, fileOf);
  const shared: SharedOptions = {
    identity,
    connection: temporal.current,
    namespace,
    activities: { default: activities.dispatch },
    dataConverter,
    interceptors: {
      client: clientInterceptors,
      activity: [
        activityInterceptors({
          ...{ settings, storage, steps, loggers, reportOutcome, verifyStart, metrics, waits, watchdog },
          stopping: stopping.signal,
        }),
      ],
    },
    sinks: { ...loggers.workflowSinks(), ...metrics.sinks(), ...traceSinks() },
  };
  const factory = new WorkerFactory(settings, shared, steps);
  const workers = isHost ? await factory.host() : [];
  const deploymentName = bundle && (await deploymentOf(settings, client(), logger, stopping.signal));
  // A versioned worker's activities run with its workflows.
  if (bundle && deploymentName === undefined) workers.push(await factory.activities());
  temporal.onReplaced((connection) => {
    for (const worker of workers) worker.connection = connection;
  });
  const createHost = (): WorkflowHost => {
    const replays = new ReplayCheck(client, settings.taskQueue, storageChoice(settings), logger);
    const connect = () => connectTemporal(settings.home, logger, stopping.signal);
    if (deploymentName === undefined)
      return new UnversionedHost({
        ...{ logger, replays },
        kept: new KeptCode(settings),
        bundleWithKept: (kept) => bundleInChildProcess(settings, { kept }),
        createWorkers: ({ codePath }) =>
          WorkerGroup.start(connect, async (connection) => [await factory.workflows(codePath, connection)]),
      });
    return new SingleBuildHost({
      ...{ taskQueue: settings.taskQueue, deploymentName, identity, logger, client, replays },
      givenBuildId: givenVersion().buildId,
      createWorkers: ({ codePath }, version) =>
        WorkerGroup.start(connect, (connection) =>
          Promise.all([
            factory.workflows(codePath, connection, version),
            factory.activities(connection, version),
          ]),
        ),
    });
  };
  const workflows = bundle && new WorkflowCode(settings, logger, createHost(), bundle);
  await storeCrashes(settings.home, storage).catch((error: unknown) =>
    logger.warn({ err: error }, "what ended earlier workers of this home can't be recorded"),
  );
  if (workflows)
    guardWorkflows({ settings, storage, logger, loggers, codeOf: (type) => workflows.codeOf(type) });
  await workflows?.start();
  const adoption = isHost ? { settings, steps, client, reportOutcome, logger } : undefined;
  // Before this worker takes new steps, because adopted ones occupy slots.
  if (adoption) await adoptSteps(adoption);
  const running = workers.map((worker) => worker.run());
  if (workflows) running.push(workflows.host.done);
  const endChores = startBackgroundTasks({ settings, storage, client, logger, adoption, recoverLines });
  const endFollowing =
    workflows && (await followEdits(settings, logger, { activities, workflows }, loadedSinceMs));
  // The drain doesn't wait for steps that outlive their worker.
  const stepQueue = stepTaskQueue(settings.taskQueue, hostId(settings.home));
  const { taskQueue, workerRole: role } = settings;
  readiness.started({ client, workers: () => factory.workers, taskQueue, role, host: hostId(settings.home) });
  const draining = workers.filter(
    ({ options }) => settings.stepsEndWithWorker || options.taskQueue !== stepQueue,
  );
  const shutdown = () => {
    readiness.stopping();
    drain.begin(() => countDraining(draining) + (workflows?.host.drainingCount ?? 0));
    stopping.abort();
    endFollowing?.();
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    workflows?.host.stop();
  };
  const done = allEnded(running, shutdown, async () => {
    // Until here, steps without another worker on this host are adopted and heartbeat.
    endChores();
    watchdog.end();
    await steps.leave();
    await logs.close();
    reserve.close();
    await endHealth();
    await temporal.close();
    await endTracing();
    endCatching();
  });
  done.catch(() => undefined);
  logger.info({ taskQueue, namespace, role }, 'worker runs');
  return {
    done,
    stopLimitMs: drain.limitMs,
    async stop() {
      shutdown();
      await done;
    },
  };
}

/**
 * Waits until the store answers.
 *
 * @returns the storage's ID; undefined for a folder that can't be written at present, e.g. on a full disk
 * @throws StorageError when somebody has to change settings, permissions or the store first
 */
async function awaitUsableStorage(
  storage: Storage,
  settings: StorageChoice,
  logger: Logger,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await verifyStorage(storage, storageName(settings));
    } catch (error) {
      const trouble = storageErrorIn(error);
      if (!trouble) {
        logger.warn({ err: error }, "storage can't be written");
        return undefined;
      }
      if (!trouble.retryable || signal.aborted) throw error;
      if (pauseMs === FIRST_PAUSE_MS) logger.warn(`${trouble.message}; the worker starts once it answers`);
    }
    await delay(withJitter(pauseMs), undefined, { signal });
  }
}
