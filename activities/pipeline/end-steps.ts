/** Ends steps of this host, whichever process follows them. */
import { waitUntilGone } from '../../platform/process-identity.js';
import type { Attempt } from './journal.js';
import { LAUNCHER_LIMIT_MS, STOP_GRACE_MS } from './launcher.js';
import { readLauncher, recordStop, type StopCause } from './launcher-record.js';
import { isLauncherAlive, killLeftovers, processesOfStep, signalLauncher } from './leftovers.js';
import { runningSteps, runOf, type RunningStep } from './running.js';

/**
 * Ends a run if it still runs, and waits until none of its processes is left.
 *
 * @param graceMs time between SIGTERM and SIGKILL at most. Default: that of its launcher, 10 s
 */
export async function endRun(
  { folder, start: { stepId } }: Attempt,
  cause: StopCause,
  graceMs = STOP_GRACE_MS + LAUNCHER_LIMIT_MS,
): Promise<void> {
  await recordStop(folder, cause);
  const run = { folder, stepId, pids: await readLauncher(folder) };
  const session = isLauncherAlive(run) ? run.pids?.launcher : undefined;
  signalLauncher(run);
  const isThere = () => (run.pids ? isLauncherAlive(run) : processesOfStep(stepId).length > 0);
  await waitUntilGone(isThere, graceMs);
  await killLeftovers(run, { session });
}

/**
 * Ends all steps that run on this host, as its stack stops.
 *
 * @param graceMs see {@link endRun}
 * @returns the steps that ran
 */
export async function endSteps(home: string, graceMs?: number): Promise<RunningStep[]> {
  const ended = await Promise.all(
    (await runningSteps(home)).map(async (running) => {
      const { stepId } = running;
      const run = await runOf(home, running);
      if (!run) return [];
      const pids = await readLauncher(run.folder);
      const ran = isLauncherAlive({ folder: run.folder, stepId, pids });
      await endRun(run, 'down', graceMs);
      return ran ? [running] : [];
    }),
  );
  return ended.flat();
}
