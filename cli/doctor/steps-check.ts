import { findContainment } from '../../worker/steps/containment.js';
import type { Finding } from './finding.js';

/** Whether hidden processes of pipeline steps end with their step on this host. A worker with another PATH or cgroup may differ. */
export async function checkStepProcesses(): Promise<Finding> {
  const check = 'step processes';
  const { cgroups, subreaper } = await findContainment(process.env['PATH'] ?? '');
  if (cgroups) return { check, status: 'ok', detail: `each step has a cgroup below ${cgroups}` };
  if (subreaper) return { check, status: 'ok', detail: `launchers are subreapers, by ${subreaper[0]}` };
  const detail = 'a process that leaves the session of its step and clears its environment outlives the step';
  const advice =
    process.platform === 'linux'
      ? 'put perl or python3 on the PATH of the workers, or give them a cgroup to write to (systemd: Delegate=yes)'
      : 'only Linux shows such processes';
  return { check, status: 'warn', detail, advice };
}
