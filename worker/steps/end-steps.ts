/** Shows and ends the steps of this host, whichever process follows them. */
import { defined } from '../../operations/json/defined.js';
import { childName } from '../../pipelines/run.js';
import { waitUntilGone } from '../../platform/home/process-identity.js';
import type { Attempt } from './journal.js';
import {
  LAUNCHER_LIMIT_MS,
  readLauncher,
  readStop,
  recordStop,
  STOP_GRACE_MS,
  type LauncherRecord,
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

/** A recorded step whose start is in its journal. */
interface StartedStep {
  running: RunningStep;
  run: Attempt;
  pids: LauncherRecord | undefined;
}

async function startedSteps<Step extends RunningStep>(
  home: string,
  steps: Step[],
): Promise<(StartedStep & { running: Step })[]> {
  const all = await Promise.all(
    steps.map(async (running) => {
      const run = await runOf(home, running);
      return run ? [{ running, run, pids: await readLauncher(run.folder) }] : [];
    }),
  );
  return all.flat();
}

function hasLauncher({ run: { folder }, pids }: StartedStep): boolean {
  return isLauncherAlive({ folder, pids });
}

/** The steps that run on this host, with a live launcher. */
export async function stepsThatRun(home: string): Promise<RunningStep[]> {
  const started = await startedSteps(home, await runningSteps(home));
  return started.filter(hasLauncher).map(({ running }) => running);
}

/** Filters the steps that a stopping stack ended. */
export async function stepsEndedWithStack(home: string, steps: RunningStep[]): Promise<RunningStep[]> {
  const started = await startedSteps(home, steps);
  const causes = await Promise.all(started.map(({ run }) => readStop(run.folder)));
  return started.filter((_, at) => causes[at] === 'down').map(({ running }) => running);
}

/** Ends all steps of this host, for its stack's stop. @param graceMs see {@link endRun} */
export async function endSteps(home: string, graceMs?: number): Promise<void> {
  // Each by itself: the others end although one can't be read.
  const ends = (await runningSteps(home)).map(async (running) => {
    const run = await runOf(home, running);
    if (run) await endRun(run, 'down', graceMs);
  });
  await Promise.all(ends);
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
  const started = await startedSteps(home, await runningSteps(home));
  return started
    .flatMap((one): StepProcesses[] => {
      const { token, step, follower, workerPid, namespace, taskQueue } = one.running;
      const { start } = one.run;
      const launcherPid = hasLauncher(one) ? one.pids?.launcher : undefined;
      if (launcherPid === undefined && processesOfStep(start).length === 0) return [];
      return [
        {
          ...{ token, job: childName(step.child), step: step.name, startedAt: start.startedAt },
          ...defined({ launcherPid, workerPid: follower === 'none' ? undefined : workerPid }),
          ...{ namespace, taskQueue },
        },
      ];
    })
    .sort((one, other) => Date.parse(one.startedAt) - Date.parse(other.startedAt));
}
