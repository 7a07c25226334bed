/** Shows and ends the steps of this host, whichever process follows them. */
import { childName } from '../../pipelines/run.js';
import { waitUntilGone } from '../../platform/home/process-identity.js';
import type { Attempt } from './journal.js';
import {
  LAUNCHER_LIMIT_MS,
  readLauncher,
  readStop,
  recordStop,
  STOP_GRACE_MS,
  type StopCause,
} from './launcher/record.js';
import { isLauncherAlive, killLeftovers, processesOfStep, signalLauncher } from './leftovers.js';
import { runningSteps, runOf, type RunningStep } from './running.js';

/** How long an ended step's relay may take, in milliseconds: less than a stopping stack has left. On a full disk it waits on. */
const RELAY_LIMIT_MS = 2_000;

/**
 * Ends a run if it still runs, and waits until its processes are gone. A relay that waits for room on a full disk may stay.
 *
 * @param graceMs maximum time between SIGTERM and SIGKILL. Default: 20 s
 */
export async function endRun(
  { folder, start: { stepId, cgroup } }: Attempt,
  cause: StopCause,
  graceMs = STOP_GRACE_MS + LAUNCHER_LIMIT_MS,
): Promise<void> {
  await recordStop(folder, cause);
  const run = { folder, stepId, cgroup, pids: await readLauncher(folder) };
  const session = isLauncherAlive(run) ? run.pids?.launcher : undefined;
  signalLauncher(run);
  const isThere = () => (run.pids ? isLauncherAlive(run) : processesOfStep(run).length > 0);
  await waitUntilGone(isThere, graceMs);
  await killLeftovers(run, { session });
  if (session === undefined) return;
  const all = { session, isRelayToo: true };
  await waitUntilGone(() => processesOfStep(run, all).length > 0, RELAY_LIMIT_MS);
}

/** The steps that run on this host, with a live launcher. */
export async function stepsThatRun(home: string): Promise<RunningStep[]> {
  return filterSteps(home, await runningSteps(home), async ({ folder, start: { stepId } }) =>
    isLauncherAlive({ folder, stepId, pids: await readLauncher(folder) }),
  );
}

/** Filters the steps that a stopping stack ended. */
export function stepsEndedWithStack(home: string, steps: RunningStep[]): Promise<RunningStep[]> {
  return filterSteps(home, steps, async ({ folder }) => (await readStop(folder)) === 'down');
}

/** Ends all steps of this host, for its stack's stop. @param graceMs see {@link endRun} */
export async function endSteps(home: string, graceMs?: number): Promise<void> {
  await Promise.all(
    (await runningSteps(home)).map(async (running) => {
      const run = await runOf(home, running);
      if (run) await endRun(run, 'down', graceMs);
    }),
  );
}

async function filterSteps(
  home: string,
  steps: RunningStep[],
  isWanted: (run: Attempt) => Promise<boolean>,
): Promise<RunningStep[]> {
  const wanted = await Promise.all(
    steps.map(async (running) => {
      const run = await runOf(home, running);
      return run && (await isWanted(run)) ? [running] : [];
    }),
  );
  return wanted.flat();
}

export interface StepProcesses {
  token: string;
  /** Job name: `build`, `test[3]`. */
  job: string;
  step: string;
  /** ISO 8601, UTC. */
  startedAt: string;
  /** Undefined while the step starts, or if its launcher was killed. */
  launcherPid?: number;
  /** Worker that follows the step; undefined while it waits for one. */
  workerPid?: number;
  /** Namespace and task queue of the workers that may follow it. */
  namespace: string;
  taskQueue: string;
}

/** A home's steps with processes, the oldest first. */
export async function stepProcesses(home: string): Promise<StepProcesses[]> {
  const all = await Promise.all(
    (await runningSteps(home)).map(async (running): Promise<StepProcesses[]> => {
      const { stepId, token, step, follower, workerPid, namespace, taskQueue } = running;
      const run = await runOf(home, running);
      if (!run) return [];
      const { folder, start } = run;
      const pids = await readLauncher(folder);
      const hasLauncher = isLauncherAlive({ folder, stepId, pids });
      if (!hasLauncher && processesOfStep(start).length === 0) return [];
      return [
        {
          ...{ token, job: childName(step.child), step: step.name, startedAt: start.startedAt },
          ...(hasLauncher ? { launcherPid: pids!.launcher } : {}),
          ...(follower === 'none' || workerPid === undefined ? {} : { workerPid }),
          ...{ namespace, taskQueue },
        },
      ];
    }),
  );
  return all.flat().sort((one, other) => Date.parse(one.startedAt) - Date.parse(other.startedAt));
}
