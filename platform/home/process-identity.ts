/** Identity of the process behind a PID. PIDs are reused, so trust a PID from a file only with its command line or start time. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt } from '../../operations/errors.js';

export interface ProcessIdentity {
  /** Arguments, joined by spaces. */
  commandLine: string;
  /** Opaque; differs between two processes with the same PID. */
  startedAt: string;
}

/** The process with this PID; undefined when it doesn't exist or is a zombie. */
export function processIdentity(pid: number): ProcessIdentity | undefined {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

function fromProc(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain spaces. The state, field 3 of proc(5), follows it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // The main thread may have ended while others still hold the process's ports and files.
    const isEnded = fields[0] === 'Z' && readdirSync(`/proc/${pid}/task`).length <= 1;
    if (isEnded || fields[0] === 'X') return undefined;
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
    return { commandLine, startedAt: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): ProcessIdentity | undefined {
  const ps = (field: string) =>
    execFileSync('ps', ['-ww', '-p', String(pid), '-o', `${field}=`], { encoding: 'utf8' }).trim();
  return attempt(() =>
    ps('state').startsWith('Z') ? undefined : { commandLine: ps('command'), startedAt: ps('lstart') },
  );
}

let ownBootId: string | undefined;

/** ID of the host's boot; empty if the system has none. */
export function bootId(): string {
  const read = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return (ownBootId ??= attempt(read) ?? '');
}

/** Does nothing if the process has ended meanwhile. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  attempt(() => process.kill(pid, signal));
}

/** Ends an orphaned process: SIGTERM, then SIGKILL after `graceMs`. @returns whether there was one with our command line */
export async function endProcess(
  pid: number,
  isOurs: (commandLine: string) => boolean,
  graceMs: number,
): Promise<boolean> {
  const found = processIdentity(pid);
  if (!found || !isOurs(found.commandLine)) return false;
  const isThere = () => processIdentity(pid)?.startedAt === found.startedAt;
  signalProcess(pid, 'SIGTERM');
  if (!(await waitUntilGone(isThere, graceMs)) && isThere()) {
    signalProcess(pid, 'SIGKILL');
    await waitUntilGone(isThere, 2_000);
  }
  return true;
}

/** Waits until `isThere` returns false. Resolves to false after `limitMs`. */
export async function waitUntilGone(isThere: () => boolean, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (isThere()) {
    if (performance.now() >= deadline) return false;
    await sleep(25);
  }
  return true;
}
