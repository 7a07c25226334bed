/** What a worker does beside running activities: speaking for dead workers, and clearing up. */
import { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { contactWatch, type ContactWatch } from '../activities/pipeline/contact.js';
import { recoverSteps } from '../activities/pipeline/recovery.js';
import { sweepWorkspaces } from '../activities/pipeline/sweep.js';
import type { ReportOutcome } from '../activities/runtime/outcome.js';
import type { Settings } from '../platform/config.js';
import { dataConverterOf } from '../platform/data-converter.js';
import type { Logger } from '../platform/log.js';
import type { Storage } from '../platform/storage.js';
import { removeTemporaryFiles } from '../platform/atomic-files.js';
import { sweepStorage } from './sweep-storage.js';

const RECOVERY_INTERVAL_MS = 30_000;
const SWEEP_INTERVAL_MS = 600_000;
const STORAGE_SWEEP_INTERVAL_MS = 6 * 3600_000;

/** The watch of this process's contact with Temporal: its frontend answers the call by itself. */
export function temporalContact(connection: NativeConnection): ContactWatch {
  return contactWatch((deadlineMs) =>
    connection.withDeadline(Date.now() + deadlineMs, () => connection.workflowService.getSystemInfo({})),
  );
}

/**
 * Begins the chores; call the result to end them. What runs just then may be cut off by the end of the connection or
 * the process: the next worker does it again.
 */
export function startBackgroundTasks(
  settings: Settings,
  storage: Storage,
  {
    connection,
    namespace,
    reportOutcome,
  }: { connection: NativeConnection; namespace: string; reportOutcome: ReportOutcome },
  logger: Logger,
): () => void {
  const client = new Client({ connection, namespace, dataConverter: dataConverterOf(storage) });
  const end = [
    every(RECOVERY_INTERVAL_MS, logger, async () => {
      const count = await recoverSteps({ settings, storage, namespace, reportOutcome });
      if (count) logger.info({ count }, 'reported steps whose worker had died');
    }),
    every(SWEEP_INTERVAL_MS, logger, () => sweepWorkspaces(settings.home, client)),
    every(SWEEP_INTERVAL_MS, logger, async () => {
      const count = await removeTemporaryFiles(settings.home);
      if (count) logger.info({ count }, 'removed files that killed processes had left unfinished');
    }),
    every(STORAGE_SWEEP_INTERVAL_MS, logger, async () => {
      const count = await sweepStorage(storage, client);
      if (count) logger.info({ count }, 'removed what storage held of purged operations');
    }),
  ];
  return () => end.forEach((endOne) => endOne());
}

/** Does a chore now and then again; one that fails (Temporal is away) waits for its next time. */
function every(intervalMs: number, logger: Logger, chore: () => Promise<void>): () => void {
  let isEnded = false;
  let timer: NodeJS.Timeout | undefined;
  const run = async () => {
    await chore().catch((error: unknown) => logger.debug({ err: error }, 'a chore failed'));
    if (!isEnded) timer = setTimeout(() => void run(), intervalMs);
  };
  void run();
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}
