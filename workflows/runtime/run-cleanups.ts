/** Runs the cleanups of a cancelled, timed-out or failed operation or part, within their budget. */
import { CancellationScope, sleep } from '@temporalio/workflow';
import { divideCleanup } from '../../operations/budgets.js';
import { isFinalFailure } from './final-failures.js';
import { cleanups, operation, type Cleanup } from './state.js';

/** Runs all cleanups side by side, within their budget. @throws any error that isn't a Temporal failure, which is a defect */
export async function runCleanups(reason: Parameters<Cleanup>[0]): Promise<void> {
  const started = cleanups.reverse();
  const { cleanupSeconds } = operation();
  if (started.length === 0) return;
  const scope = new CancellationScope();
  const ended = scope.run(() => Promise.all(started.map((work) => runCleanup(work, reason))));
  await Promise.race([ended, limit(scope, cleanupSeconds)]);
}

/** The timer isn't cancelled when the cleanups have ended, because the workflow closes then. */
async function limit(scope: CancellationScope, cleanupSeconds: number): Promise<void> {
  const { stopMs, cleanupMs } = divideCleanup(cleanupSeconds);
  await sleep(cleanupMs, { summary: 'time for cleanups' });
  scope.cancel();
  await sleep(stopMs);
}

async function runCleanup(work: Cleanup, reason: Parameters<Cleanup>[0]): Promise<void> {
  try {
    await work(reason);
  } catch (error) {
    if (!isFinalFailure(error)) throw error;
    // A failed cleanup must not prevent the others, or the operation's end.
  }
}
