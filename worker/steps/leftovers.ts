/** The processes of a step: checks whether its launcher lives, and finds and kills what is left. */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bootId, processIdentity, signalProcess } from '../../platform/home/process-identity.js';
import { killCgroup, processesIn, removeCgroup } from './containment.js';
import {
  EXIT_RESERVE_FILE,
  FIRST_LAUNCHER_FILE,
  LAUNCHER_DESCRIPTOR,
  type LauncherRecord,
} from './launcher/record.js';

/** Environment variable that all processes of a step inherit. */
export const STEP_MARKER = 'LONGHAUL_STEP_ID';

/** Maximum wait for processes to disappear after SIGKILL, in milliseconds. */
const KILL_LIMIT_MS = 5_000;

export interface RunProcesses {
  /** Folder of the run, which appears in the command lines of launcher and step. */
  folder: string;
  stepId: string;
  /** Path of the step's own cgroup; undefined if it has none. */
  cgroup?: string;
  /** Undefined if the step never started, or its record is lost. */
  pids: LauncherRecord | undefined;
}

/** Whether the run's launcher lives. Its PID may now be another process's, date from an earlier boot, or be from a copied home. */
export function isLauncherAlive({ folder, pids }: Pick<RunProcesses, 'folder' | 'pids'>): boolean {
  if (!pids || !isOfRun(pids, pids.launcher, pids.launcherStartedAt, folder)) return false;
  return hasOpen(pids.launcher, join(folder, FIRST_LAUNCHER_FILE));
}

export function isOfEarlierBoot({ pids }: RunProcesses): boolean {
  return pids !== undefined && pids.boot !== '' && pids.boot !== bootId();
}

/** Asks the launcher to end the step. A launcher that is stopped (SIGSTOP) continues for it. */
export function signalLauncher(run: RunProcesses): void {
  if (!isLauncherAlive(run)) return;
  signalProcess(run.pids!.launcher, 'SIGTERM');
  signalProcess(run.pids!.launcher, 'SIGCONT');
}

/** Which of a step's processes to find by session. */
export interface SessionProcesses {
  /** The launcher's PID, if the caller has seen the launcher alive. */
  session?: number;
  /** Whether to include the launcher's own process group, with the relay. */
  isRelayToo?: boolean;
}

/**
 * Kills what is left of a run, and what its processes start meanwhile: its launcher with all descendants, its process group,
 * and the processes in its cgroup, with its LONGHAUL_STEP_ID or in its session. Removes the cgroup, and what a killed launcher
 * reserved. Only Linux shows more than launcher and group.
 */
export async function killLeftovers(run: RunProcesses, within: SessionProcesses = {}): Promise<void> {
  const { folder, pids, cgroup } = run;
  const launcher = pids && isLauncherAlive(run) ? pids.launcher : undefined;
  // It would record the signal as the step's own end.
  if (launcher !== undefined) signalProcess(launcher, 'SIGSTOP');
  if (pids && isOfRun(pids, pids.step, pids.stepStartedAt, folder)) signalProcess(-pids.step, 'SIGKILL');
  if (launcher !== undefined) {
    // Before the launcher, because its end orphans them.
    await killAll(() => descendantsOf(launcher));
    signalProcess(launcher, 'SIGKILL');
  }
  if (cgroup) killCgroup(cgroup);
  await killAll(() => processesOfStep(run, within));
  if (cgroup) removeCgroup(cgroup);
  rmSync(join(folder, EXIT_RESERVE_FILE), { force: true });
}

async function killAll(find: () => number[]): Promise<void> {
  const deadline = performance.now() + KILL_LIMIT_MS;
  for (;;) {
    const left = find();
    if (left.length === 0 || performance.now() > deadline) return;
    for (const pid of left) signalProcess(pid, 'SIGKILL');
    await sleep(20);
  }
}

/** PIDs of the processes in a step's cgroup, with its LONGHAUL_STEP_ID, or in its session. Only Linux shows them. */
export function processesOfStep(
  { stepId, cgroup }: Pick<RunProcesses, 'stepId' | 'cgroup'>,
  { session, isRelayToo = false }: SessionProcesses = {},
): number[] {
  if (process.platform !== 'linux') return [];
  const marker = `${STEP_MARKER}=${stepId}\0`;
  const isInSession = (pid: number) => {
    if (session === undefined) return false;
    const found = relationsOf(pid);
    return found?.session === session && (isRelayToo || found.group !== session);
  };
  const marked = allPids().filter((pid) => hasInEnvironment(pid, marker) || isInSession(pid));
  return cgroup === undefined ? marked : [...new Set([...processesIn(cgroup), ...marked])];
}

/** PIDs of a launcher's descendants, except the relay and others in its own group. Only Linux shows them. */
function descendantsOf(launcher: number): number[] {
  if (process.platform !== 'linux') return [];
  const others = allPids().flatMap((pid) => {
    const found = relationsOf(pid);
    return found && found.group !== launcher ? [{ pid, ...found }] : [];
  });
  const found = new Set([launcher]);
  for (let size = 0; size < found.size;) {
    size = found.size;
    for (const { pid, parent } of others) if (found.has(parent)) found.add(pid);
  }
  found.delete(launcher);
  return [...found];
}

function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Variables that a process started with; only Linux shows them. */
export function startVariables(pid: number, names: readonly string[]): Record<string, string> {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return Object.fromEntries(
      names.flatMap((name) => {
        const variable = variables.find((one) => one.startsWith(`${name}=`));
        return variable === undefined ? [] : [[name, variable.slice(name.length + 1)]];
      }),
    );
  } catch {
    return {};
  }
}

function isOfRun({ boot }: LauncherRecord, pid: number, startedAt: string, folder: string): boolean {
  if (boot !== bootId()) return false;
  const identity = processIdentity(pid);
  return startedAt === ''
    ? Boolean(identity?.commandLine.includes(folder))
    : identity?.startedAt === startedAt;
}

/** Whether a launcher has this file open; true if that can't be seen, or the step has removed the file. */
function hasOpen(launcher: number, path: string): boolean {
  try {
    const [open, file] = [statSync(`/proc/${launcher}/fd/${LAUNCHER_DESCRIPTOR}`), statSync(path)];
    return open.ino === file.ino && open.dev === file.dev;
  } catch {
    return true;
  }
}

function hasInEnvironment(pid: number, text: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`).includes(text);
  } catch {
    return false; // Ended, or another user's.
  }
}

/** Fields 4 to 6 of proc_pid_stat(5), after the name in parentheses, which may hold spaces; undefined for a zombie. */
function relationsOf(pid: number): { parent: number; group: number; session: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z'
      ? undefined
      : { parent: Number(parent), group: Number(group), session: Number(session) };
  } catch {
    return undefined;
  }
}
