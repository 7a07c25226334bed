/** The steps of this host that have processes, for people. */
import { childName } from '../../pipelines/run.js';
import { readLauncher } from './launcher-record.js';
import { isLauncherAlive, processesOfStep } from './leftovers.js';
import { runningSteps, runOf } from './running.js';

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
