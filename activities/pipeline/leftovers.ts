/** Finds and kills processes of a step that remain after its launcher: those that left its group, or a killed launcher's. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntilGone, processIdentity, signalProcess } from '../../platform/process-identity.js';
import { readLauncher } from './launcher-record.js';

/** Environment variable that all processes of a step inherit. */
export const STEP_MARKER = 'LONGHAUL_STEP_ID';

/** Maximum wait for processes to disappear after SIGKILL, in milliseconds. */
const KILL_LIMIT_MS = 5_000;

/** PIDs of the processes with a step's LONGHAUL_STEP_ID. Only Linux shows the environment of other processes. */
export function processesOfStep(stepId: string): number[] {
  if (process.platform !== 'linux') return [];
  const marker = `${STEP_MARKER}=${stepId}\0`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => hasInEnvironment(pid, marker));
}

function hasInEnvironment(pid: number, text: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`).includes(text);
  } catch {
    return false; // Ended, or another user's.
  }
}

/** Kills all processes with a step's LONGHAUL_STEP_ID, also those that they start meanwhile. */
export async function killProcessesOfStep(stepId: string): Promise<void> {
  const deadline = Date.now() + KILL_LIMIT_MS;
  for (;;) {
    const pids = processesOfStep(stepId);
    if (pids.length === 0 || Date.now() > deadline) return;
    for (const pid of pids) signalProcess(pid, 'SIGKILL');
    await sleep(20);
  }
}

/** Kills the process group of a step whose launcher was killed. */
export async function killGroup(folder: string): Promise<void> {
  const step = (await readLauncher(folder))?.step;
  if (step) signalProcess(-step, 'SIGKILL');
}

/**
 * Ends a step whose worker has died: its launcher gets time to stop it, then remaining processes are killed.
 */
export async function endLeftovers(folder: string, stepId: string, limitMs: number): Promise<void> {
  const pids = await readLauncher(folder);
  // A PID may have been reused: the command lines of launcher and step contain the run's folder.
  const isOurs = (pid: number) => processIdentity(pid)?.commandLine.includes(folder) ?? false;
  await waitUntilGone(() => (pids ? isOurs(pids.launcher) : processesOfStep(stepId).length > 0), limitMs);
  if (pids && isOurs(pids.step)) signalProcess(-pids.step, 'SIGKILL');
  if (pids && isOurs(pids.launcher)) signalProcess(pids.launcher, 'SIGKILL');
  await killProcessesOfStep(stepId);
}
