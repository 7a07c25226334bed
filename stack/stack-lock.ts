/** Lock for one stack per home: a file that names its holder, created atomically by a hard link. A dead holder's lock is ignored. */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processIdentity } from '../platform/home/process-identity.js';

export interface StackHolder {
  pid: number;
  /** Distinguishes the holder from a later process with the same PID. */
  startedAt: string;
  /** `up`: the whole stack. `temporal`: Temporal alone. */
  command: 'up' | 'temporal';
}

function lockFile(home: string): string {
  return join(home, 'stack.lock');
}

/** The live holder of the home's lock; undefined when no stack runs. */
export function stackHolder(home: string): StackHolder | undefined {
  const holder = readHolder(lockFile(home));
  return holder && isHolderAlive(holder) ? holder : undefined;
}

export function isHolderAlive(holder: StackHolder): boolean {
  return processIdentity(holder.pid)?.startedAt === holder.startedAt;
}

/** Takes the lock for this process. @returns a function that releases it, or the current holder */
export function takeStackLock(home: string, command: StackHolder['command']): (() => void) | StackHolder {
  mkdirSync(home, { recursive: true });
  const lock = lockFile(home);
  const own = `${lock}.${process.pid}`;
  const startedAt = processIdentity(process.pid)?.startedAt ?? '';
  try {
    writeFileSync(own, JSON.stringify({ pid: process.pid, startedAt, command } satisfies StackHolder));
    while (!linked(own, lock)) {
      const holder = readHolder(lock);
      if (holder && isHolderAlive(holder)) return holder;
      removeStale(lock, holder);
    }
  } finally {
    rmSync(own, { force: true });
  }
  return () => {
    const holder = readHolder(lock);
    if (holder?.pid === process.pid && holder.startedAt === startedAt) rmSync(lock, { force: true });
  };
}

/** Removes a dead holder's lock, unless it was replaced since it was read. */
function removeStale(lock: string, dead: StackHolder | undefined): void {
  const aside = `${lock}.stale.${process.pid}`;
  try {
    renameSync(lock, aside);
  } catch {
    return;
  }
  const moved = readHolder(aside);
  if (moved && moved.startedAt !== dead?.startedAt && isHolderAlive(moved)) linked(aside, lock);
  rmSync(aside, { force: true });
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readHolder(path: string): StackHolder | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as StackHolder;
  } catch {
    return undefined;
  }
}
