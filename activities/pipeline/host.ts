/** ID of the host whose disk has the workspaces: part of the names of its task queues, stored in LONGHAUL_HOME. */
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** Host ID of a home, generated at first use: `buildbox-3f9c0a12b4`. */
export function hostId(home: string): string {
  const path = join(home, 'host-id');
  const found = read(path);
  if (found) return found;
  mkdirSync(home, { recursive: true });
  const prefix = hostname()
    .replaceAll(/[^A-Za-z0-9-]/g, '-')
    .slice(0, 24);
  const mine = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(mine, `${prefix}-${randomBytes(5).toString('hex')}`, { flag: 'wx' });
  try {
    linkSync(mine, path); // fails if another process was first: its ID counts
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(mine);
  }
  return readFileSync(path, 'utf8').trim();
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
