/** Processes and files that a run leaves behind. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { processIdentity, signalProcess } from '../../platform/home/process-identity.js';
import { eventually } from '../stack/cli-process.js';

/** Time for the last processes of a stopped target to end, in milliseconds. */
const EXIT_MS = 5_000;

/** PIDs of the processes whose environment or command line names the folder, but for this one. */
export function processesOf(folder: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && isProcessOf(folder, pid));
}

/** Whether the process runs, and its environment or command line names the folder: PIDs are reused. */
export function isProcessOf(folder: string, pid: number): boolean {
  if (!processIdentity(pid)) return false;
  return ['cmdline', 'environ'].some((file) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(folder);
    } catch {
      // It has ended.
      return false;
    }
  });
}

/** Descriptions of the processes that still run a moment after the target has stopped. */
export async function leftProcesses(folder: string): Promise<string[]> {
  await eventually('all processes have ended', () => processesOf(folder).length === 0, EXIT_MS).catch(
    () => undefined,
  );
  return processesOf(folder).map((pid) => `${pid}: ${processIdentity(pid)?.commandLine.slice(0, 200)}`);
}

/** Kills the processes that name the folder; those that stopped ones have started, too. */
export function killProcessesOf(folder: string): void {
  for (let round = 0; round < 5; round += 1) {
    const left = processesOf(folder);
    if (left.length === 0) return;
    for (const pid of left) signalProcess(pid, 'SIGKILL');
  }
}

/** Paths of the files below the folder whose path, relative to it, fits. */
export function leftFiles({ folder, names: fits }: { folder: string; names: RegExp }): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => fits.test(path.slice(folder.length + 1)));
}
