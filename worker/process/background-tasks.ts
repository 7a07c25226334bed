/** Background tasks of a worker: adopting steps whose worker has ended, and removing leftover files. */
import type { Client } from '@temporalio/client';
import { sweepWorkspaces } from '../../activities/pipeline/sweep.js';
import type { Settings } from '../../platform/settings/index.js';
import { every } from '../../platform/every.js';
import type { Logger } from '../../platform/observe/log.js';
import type { Storage } from '../../platform/storage/index.js';
import { planTemporarySweep, sweep } from '../../platform/storage/sweep-plan.js';
import { adoptSteps, type AdoptionContext } from '../steps/adopt-steps.js';
import { failLostAttempts } from '../steps/lost-attempts.js';
import { sweepStorage } from './sweep-storage.js';

const ADOPTION_INTERVAL_MS = 5_000;
const SWEEP_INTERVAL_MS = 600_000;
const STORAGE_SWEEP_INTERVAL_MS = 6 * 3600_000;

function untilDone(task: () => Promise<void>): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    await task();
    isDone = true;
  };
}

export interface BackgroundWork {
  settings: Settings;
  storage: Storage;
  client: () => Client;
  logger: Logger;
  /** Undefined for a worker that runs no steps. */
  adoption: AdoptionContext | undefined;
  /** Writes the lines that killed workers left. */
  recoverLines: () => Promise<void>;
}

export function startBackgroundTasks(work: BackgroundWork): () => void {
  const { settings, storage, client, logger, adoption, recoverLines } = work;
  const end = [
    ...(adoption
      ? [
          every(ADOPTION_INTERVAL_MS, logger, async () => void (await adoptSteps(adoption))),
          every(
            ADOPTION_INTERVAL_MS,
            logger,
            untilDone(async () => void (await failLostAttempts(adoption))),
          ),
        ]
      : []),
    every(ADOPTION_INTERVAL_MS, logger, recoverLines),
    every(SWEEP_INTERVAL_MS, logger, () => sweepWorkspaces(settings.home, storage, client())),
    every(SWEEP_INTERVAL_MS, logger, async () => {
      const { length: count } = await sweep(planTemporarySweep(settings.home));
      if (count) logger.info({ count }, 'removed files that killed processes had left unfinished');
    }),
    every(STORAGE_SWEEP_INTERVAL_MS, logger, async () => {
      const count = await sweepStorage(storage, client());
      if (count) logger.info({ count }, 'removed what storage held of purged operations');
    }),
  ];
  return () => end.forEach((endOne) => endOne());
}
