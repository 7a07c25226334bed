/** The Temporal worker: runs the tools' workflows and activities. Any number of them can run. */
import { hostname } from 'node:os';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { CHILD_PROGRESS_ACTIVITY, REQUEST_CANCEL_ACTIVITY } from '../operations/wire.js';
import type { Settings } from '../platform/config.js';
import { dataConverterOf } from '../platform/data-converter.js';
import type { Logger } from '../platform/log.js';
import { loadActivities } from '../platform/project.js';
import { storageOf } from '../platform/storage.js';
import { connectTemporal } from '../platform/temporal-link.js';
import { asTemporalLogger } from '../platform/temporal-runtime.js';
import { activityInterceptors } from './activity-interceptor.js';
import { workflowBundle } from './bundle.js';
import { startChores, temporalContact } from './chores.js';
import { outcomeReporter } from './report-outcome.js';
import { childProgress, requestCancel } from './own-activities.js';
import { OperationLoggers } from './operation-loggers.js';
import { OperationLogs } from './operation-logs.js';
import { createWorkers } from './workers.js';

export interface RunningWorker {
  /** Takes no more work, lets what runs end within the grace time, resolves when all is down. */
  stop(): Promise<void>;
  /** Resolves once the worker has stopped; rejects if it failed. */
  done: Promise<void>;
}

/**
 * Starts a worker; waits for Temporal if it isn't up yet.
 *
 * @throws SettingsError when a tool's file can't be loaded
 */
export async function startWorker(settings: Settings, logger: Logger): Promise<RunningWorker> {
  const stopping = new AbortController();
  const [codePath, activities, { connection, namespace }] = await Promise.all([
    workflowBundle(settings, asTemporalLogger(logger)),
    loadActivities(settings),
    connectTemporal(settings.home, logger, stopping.signal),
  ]);
  const storage = storageOf(settings);
  const contact = temporalContact(connection);
  const dataConverter = dataConverterOf(storage);
  const reportOutcome = outcomeReporter({
    connection,
    namespace,
    identity: `${process.pid}@${hostname()}`,
    dataConverter: loadDataConverter(dataConverter),
    stopping: stopping.signal,
    logger,
  });
  const logs = new OperationLogs({ storage, logger });
  const loggers = new OperationLoggers(logs, logger);
  const workers = await createWorkers(settings, {
    connection,
    namespace,
    workflowBundle: { codePath },
    activities: {
      ...activities,
      [REQUEST_CANCEL_ACTIVITY]: requestCancel,
      [CHILD_PROGRESS_ACTIVITY]: childProgress,
    },
    dataConverter,
    interceptors: {
      activity: [activityInterceptors({ settings, storage, contact, loggers, reportOutcome })],
    },
    sinks: loggers.workflowSinks(),
  });
  const shutdown = () => {
    stopping.abort();
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const running = workers.map((worker) => worker.run());
  const endChores = startChores(settings, storage, { connection, namespace, reportOutcome }, logger);
  const done = allEnded(running, shutdown).finally(async () => {
    endChores();
    await logs.close();
    return connection.close();
  });
  done.catch(() => undefined);
  logger.info({ taskQueue: settings.taskQueue, namespace }, 'worker runs');
  return {
    done,
    async stop() {
      shutdown();
      await done;
    },
  };
}

/** Resolves once all have ended; when one fails, the others are stopped, and this rejects as it did. */
async function allEnded(running: Promise<void>[], shutdown: () => void): Promise<void> {
  try {
    await Promise.all(running);
  } catch (error) {
    shutdown();
    await Promise.allSettled(running);
    throw error;
  }
}
