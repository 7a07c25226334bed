/**
 * Temporary folders of calls, and removal of those that killed workers have left. Their names contain host and process ID, and
 * the next call removes those whose process has ended. Other hosts' folders stay: their processes can't be seen from here.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';

const PREFIX = `dataset.${hostname()
  .replace(/[^a-zA-Z0-9]/g, '')
  .slice(0, 40)}.`;
/** With a random part: in a container, an earlier process had the same ID. */
const OWN_PREFIX = `${PREFIX}${process.pid}.${randomBytes(6).toString('hex')}.`;

/** Makes a temporary folder in `folder`. */
export function makeScratch(folder: string): Promise<string> {
  return mkdtemp(path.join(folder, OWN_PREFIX));
}

/** Removes temporary folders of dead processes of this host in `folder`. */
export async function sweepLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(PREFIX) || name.startsWith(OWN_PREFIX)) continue;
    const pid = Number(name.slice(PREFIX.length).split('.')[0]);
    if (!Number.isInteger(pid) || pid <= 0 || (pid !== process.pid && isAlive(pid))) continue;
    await rm(path.join(folder, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as { code?: string }).code === 'EPERM';
  }
}
