/** Files in the folder of a step's run: the launcher's scripts and records, and the requests to end the step. */
import { readFileSync } from 'node:fs';
import { readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CODE_ROOT } from '../../../platform/code-root.js';
import { readJson, succeeds } from '../files.js';

/** Time between SIGTERM and SIGKILL of a step, in milliseconds. */
export const STOP_GRACE_MS = 10_000;

/** Additional time for a launcher to end, in milliseconds, after its step's timeout and grace period. */
export const LAUNCHER_LIMIT_MS = 10_000;

/**
 * Why a step was ended: `canceled`, its operation was cancelled; `timeout`, it took longer than its timeout; `log`, its log
 * couldn't be written; `down`, its stack stopped; `worker`, its worker ended, and a setting ends steps with it; `closed`, its
 * workflow run has closed or its job is on another host; `outside`, its launcher got a signal from outside of Longhaul.
 */
export type StopCause = 'canceled' | 'timeout' | 'log' | 'down' | 'worker' | 'closed' | 'outside';

export interface ExitRecord {
  /** Missing when a signal ended the step's shell. */
  exitCode?: number;
  signal?: string;
  /** Why its launcher ended it; missing if it ended by itself. */
  stopped?: StopCause;
  /** ISO 8601, UTC. */
  endedAt: string;
}

/** The processes of a run. Start times are opaque, and empty where the system has no /proc. */
export interface LauncherRecord {
  /** ID of the host's boot; empty where the system has none. */
  boot: string;
  /** PID of the launcher, which leads the session of the step's processes, unless they made their own. */
  launcher: number;
  launcherStartedAt: string;
  /** PID of the step's shell, which leads the step's process group. */
  step: number;
  stepStartedAt: string;
}

/** How the step ended; undefined when the record is missing or incomplete. */
export function readExit(folder: string): Promise<ExitRecord | undefined> {
  return readJson(join(folder, 'exit.json'));
}

/** PIDs of launcher and step; undefined until the step has started. */
export function readLauncher(folder: string): Promise<LauncherRecord | undefined> {
  return readJson(join(folder, 'launcher.json'));
}

/** A request to end the step renames this file: only the first one counts, even on a full disk. */
export const RUNNING_FILE = 'running';

/** Records why a step is about to be ended, unless it has ended or is being ended. @returns whether this cause counts */
export function recordStop(folder: string, cause: StopCause): Promise<boolean> {
  return succeeds(rename(join(folder, RUNNING_FILE), join(folder, `stopped-${cause}`)));
}

/** Why the step was or is being ended; undefined if nobody asked for it. */
export async function readStop(folder: string): Promise<StopCause | undefined> {
  const names = await readdir(folder).catch(() => []);
  const name = names.find((one) => one.startsWith('stopped-'));
  return name?.slice('stopped-'.length) as StopCause | undefined;
}

export const LAUNCHER_FILE = 'launcher.sh';

/** The first file that a launcher makes. */
export const FIRST_LAUNCHER_FILE = 'how';

/** Where the launcher reserves the space of `exit.json`, and writes it. A killed launcher leaves it. */
export const EXIT_RESERVE_FILE = 'exit.tmp';

/** Descriptor that the launcher, and no other process, keeps open on its first file for all its life. */
export const LAUNCHER_DESCRIPTOR = 6;

const SCRIPTS = [LAUNCHER_FILE, 'relay.sh'] as const;

let texts: string[] | undefined;

/**
 * Writes the scripts that a step runs under. Each run has copies, because bash reads a script while it runs and an upgrade
 * replaces these files.
 */
export async function writeScripts(folder: string): Promise<void> {
  texts ??= SCRIPTS.map((name) => readFileSync(join(CODE_ROOT, 'worker/steps/launcher', name), 'utf8'));
  for (const [at, name] of SCRIPTS.entries()) await writeFile(join(folder, name), texts[at]!);
}
