/** ID of the host whose disk has the workspaces. It is part of the host's task queue names, and stored in LONGHAUL_HOME. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createFileOnce, readIfThere } from '../../platform/home/atomic-files.js';

/** Host ID of a home, generated at first use: `buildbox-3f9c0a12b4`. */
export function hostId(home: string): string {
  const found = knownHostId(home);
  if (found) return found;
  const path = idFile(home);
  const prefix = hostname()
    .replaceAll(/[^A-Za-z0-9-]/g, '-')
    .slice(0, 24);
  createFileOnce(path, `${prefix}-${randomBytes(5).toString('hex')}`);
  return readFileSync(path, 'utf8').trim();
}

/** Host ID of a home; undefined if no worker has run in it. */
export function knownHostId(home: string): string | undefined {
  return readIfThere(idFile(home))?.toString().trim() || undefined;
}

function idFile(home: string): string {
  return join(home, 'host-id');
}
