/** Warns if Temporal's retention is shorter than the promised minimum keep-alive of results. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Engine } from '../../engine/index.js';
import { humanDuration } from '../../operations/budgets.js';
import type { Logger } from '../../platform/log.js';
import { MIN_KEEP_ALIVE_SECONDS } from './schemas.js';

const RETRY_MS = 5_000;

/** Undefined if the retention is long enough or Temporal can't be reached. */
export async function retentionWarning(engine: Engine): Promise<string | undefined> {
  const retentionSeconds = await engine.temporal.facts().then(
    (facts) => facts.retentionSeconds,
    () => undefined,
  );
  return retentionSeconds === undefined ? undefined : warningOf(retentionSeconds);
}

/** @param retentionSeconds of the namespace */
export function warningOf(retentionSeconds: number): string | undefined {
  return retentionSeconds < MIN_KEEP_ALIVE_SECONDS
    ? `this Temporal namespace keeps closed workflows for only ${humanDuration(retentionSeconds)}, so results of jobs are kept no longer than that; raise its retention to ${humanDuration(MIN_KEEP_ALIVE_SECONDS)} or more`
    : undefined;
}

/** Logs the warning once, as soon as Temporal can be reached. */
export async function logRetentionWarning(
  engine: Engine,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { retentionSeconds } = await engine.temporal.facts();
      const warning = warningOf(retentionSeconds);
      if (warning) logger.warn(warning);
      return;
    } catch {
      await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
