/**
 * Temporary folders of calls, and removal of those that killed workers have left. Their names contain host and process ID, and
 * the next call removes those whose process has ended. Other hosts' folders stay: their processes can't be seen from here.
 */
import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';

const HOST =
  hostname()
    .replace(/[^a-zA-Z0-9]/g, '')
    .slice(0, 40) || 'host';
const PREFIX = `dataset.${HOST}.`;
const live = new Set<string>();

/** Path of a temporary folder in `folder`, reserved for this process until {@link releaseScratch}. */
export function claimScratch(folder: string): string {
  const claimed = path.join(folder, `${PREFIX}${process.pid}.${randomBytes(6).toString('hex')}`);
  live.add(claimed);
  return claimed;
}

export async function releaseScratch(claimed: string): Promise<void> {
  await rm(claimed, { recursive: true, force: true });
  live.delete(claimed);
}

/** Removes temporary folders of dead processes of this host in `folder`. */
export async function sweepLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = Number(name.startsWith(PREFIX) && name.slice(PREFIX.length).split('.')[0]);
    const scratch = path.join(folder, name);
    if (!Number.isInteger(pid) || pid <= 0 || live.has(scratch)) continue;
    // An unknown path with our own process ID is an earlier process's: in a container it's always 1.
    if (pid !== process.pid && isAlive(pid)) continue;
    await rm(scratch, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as { code?: string }).code === 'EPERM';
  }
}
