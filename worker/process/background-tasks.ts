/** Background tasks of a worker: adopting steps whose worker has ended, and removing leftover files. */
import { Client } from '@temporalio/client';
import { sweepWorkspaces } from '../../activities/pipeline/sweep.js';
import type { Settings } from '../../platform/settings/index.js';
import type { TemporalConnection } from '../../platform/temporal/connect.js';
import { dataConverterOf } from '../../platform/temporal/data-converter.js';
import { readableMemos } from '../../platform/temporal/memo.js';
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

/** @param parts `adoption`: undefined for a worker that runs no steps; `recoverLines` writes the lines that killed workers left */
export function startBackgroundTasks(
  settings: Settings,
  storage: Storage,
  {
    temporal,
    adoption,
    recoverLines,
  }: {
    temporal: TemporalConnection;
    adoption: AdoptionContext | undefined;
    recoverLines: () => Promise<void>;
  },
  logger: Logger,
): () => void {
  const { namespace } = temporal;
  const dataConverter = dataConverterOf(storage);
  const interceptors = { workflow: [readableMemos(dataConverter)] };
  const clientNow = () =>
    new Client({ connection: temporal.current, namespace, dataConverter, interceptors });
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
    every(SWEEP_INTERVAL_MS, logger, () => sweepWorkspaces(settings.home, storage, clientNow())),
    every(SWEEP_INTERVAL_MS, logger, async () => {
      const { length: count } = await sweep(planTemporarySweep(settings.home));
      if (count) logger.info({ count }, 'removed files that killed processes had left unfinished');
    }),
    every(STORAGE_SWEEP_INTERVAL_MS, logger, async () => {
      const count = await sweepStorage(storage, clientNow());
      if (count) logger.info({ count }, 'removed what storage held of purged operations');
    }),
  ];
  return () => end.forEach((endOne) => endOne());
}
