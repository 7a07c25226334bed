/** Processes that are left of a step once its launcher has ended: those that left its group, or a killed launcher's. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntilGone, processIdentity, signalProcess } from '../../platform/process-identity.js';
import { readLauncher } from './launcher-record.js';

/** Environment variable that all processes of a step inherit. */
export const STEP_MARKER = 'LONGHAUL_STEP_ID';

/** How long processes may take to go after SIGKILL, in milliseconds. */
const KILL_LIMIT_MS = 5_000;

/** PIDs of the processes that carry a step's marker. Only Linux shows the environment of other processes. */
export function markedProcesses(stepId: string): number[] {
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
    return false; // Gone, or another user's.
  }
}

/** Kills all processes that carry a step's marker, also those that they start meanwhile. */
export async function endMarked(stepId: string): Promise<void> {
  const deadline = Date.now() + KILL_LIMIT_MS;
  for (;;) {
    const pids = markedProcesses(stepId);
    if (pids.length === 0 || Date.now() > deadline) return;
    for (const pid of pids) signalProcess(pid, 'SIGKILL');
    await sleep(20);
  }
}

/** Kills the group of a step whose launcher was killed just now. */
export async function endGroup(folder: string): Promise<void> {
  const step = (await readLauncher(folder))?.step;
  if (step) signalProcess(-step, 'SIGKILL');
}

/**
 * Sees to it that nothing runs of a step whose worker is gone: its launcher gets the time to end it in order, then
 * what is left is killed.
 */
export async function endLeftovers(folder: string, stepId: string, limitMs: number): Promise<void> {
  const pids = await readLauncher(folder);
  // A PID may belong to another process by now: the run's folder stands in the command line of both of ours.
  const isOurs = (pid: number) => processIdentity(pid)?.commandLine.includes(folder) ?? false;
  await waitUntilGone(() => (pids ? isOurs(pids.launcher) : markedProcesses(stepId).length > 0), limitMs);
  if (pids && isOurs(pids.step)) signalProcess(-pids.step, 'SIGKILL');
  if (pids && isOurs(pids.launcher)) signalProcess(pids.launcher, 'SIGKILL');
  await endMarked(stepId);
}
