/** Starts a step's script under its launcher, which outlives this process. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDiskFull } from '../../../platform/home/disk.js';
import { LAUNCHER_FILE, readExit, readLauncher, type ExitRecord } from './record.js';
import { STEP_MARKER } from '../leftovers.js';

/** Maximum wait for the launcher's last report after its end, in milliseconds. */
const REPORT_LIMIT_MS = 1_000;

/** Longest timeout that a launcher gets, in milliseconds: a year. */
const LONGEST_TIMEOUT_MS = 365 * 24 * 3600_000;

export interface LaunchOptions {
  folder: string;
  /** LONGHAUL_STEP_ID of the step's processes. */
  stepId: string;
  workingDirectory: string;
  environment: Record<string, string>;
  bash: string;
  /** PATH of the worker. */
  tools: string;
  /** The step's umask, in octal. */
  umask: string;
  graceMs: number;
  timeoutMs: number | undefined;
  /** Whether the step ends with this process. */
  endsWithWorker: boolean;
  /** Path of the step's own cgroup; undefined if it has none. */
  cgroup?: string;
  /** Command that makes the launcher a subreaper; undefined if it isn't one. */
  subreaper?: string[];
}

export interface StartedLauncher {
  /** Resolves once it has ended; with undefined when it was killed. */
  ended: Promise<ExitRecord | undefined>;
  /** Lets this process end while the launcher runs. */
  unref(): void;
}

/** @throws when it can't start, e.g. because its environment is too large (E2BIG), or ends before the step has started */
export async function startLauncher(options: LaunchOptions): Promise<StartedLauncher> {
  const { folder, stepId, workingDirectory, environment, bash, tools, umask, endsWithWorker } = options;
  const { graceMs, timeoutMs, cgroup = '', subreaper = [] } = options;
  const tenths = (ms: number) => String(Math.max(1, Math.round(ms / 100)));
  const timeout = timeoutMs === undefined ? '0' : tenths(Math.min(timeoutMs, LONGEST_TIMEOUT_MS));
  const dies = endsWithWorker ? '1' : '0';
  // Privileged mode (-p) ignores BASH_ENV and shell options in the step's environment.
  const script = ['-p', join(folder, LAUNCHER_FILE)];
  const args = [folder, tenths(graceMs), timeout, dies, tools, umask, cgroup];
  const [file, ...rest] = [...subreaper, bash, ...script, ...args];
  const launcher = spawn(file!, rest, {
    cwd: workingDirectory,
    env: { ...environment, [STEP_MARKER]: stepId },
    detached: true,
    stdio: [endsWithWorker ? 'pipe' : 'ignore', 'ignore', 'pipe'],
  }) as ChildProcessByStdio<Writable | null, null, Readable>;
  await once(launcher, 'spawn');
  // Not 'close': a process that left the step's group may hold descriptors of the launcher.
  const exited = once(launcher, 'exit');
  let reports = '';
  let started!: () => void;
  const isStarted = new Promise<void>((resolve) => (started = resolve));
  launcher.stderr.on('data', (chunk: Buffer) => {
    reports = (reports + chunk.toString()).slice(-8192);
    if (reports.includes('started\n')) started();
  });
  launcher.stdin?.on('error', () => undefined);
  launcher.stderr.on('error', () => undefined);
  const reported = new Promise((resolve) => launcher.stderr.once('close', resolve));
  const ended = exited.then(async () => {
    await Promise.race([reported, sleep(REPORT_LIMIT_MS, undefined, { ref: false })]);
    // The step may have removed its journal.
    const report = /^ended (.*)$/m.exec(reports)?.[1];
    return (await readExit(folder)) ?? (report ? (JSON.parse(report) as ExitRecord) : undefined);
  });
  const failed = ended.then(async (record) => {
    if (record || launcher.signalCode !== null || (await readLauncher(folder))) return;
    const why = reports.trim().slice(0, 300) || 'without any output';
    const cause = (await isDiskFull(folder)) ? { code: 'ENOSPC' } : undefined;
    throw new Error(`its launcher ended at once: ${why}`, { cause });
  });
  await Promise.race([isStarted, failed]);
  failed.catch(() => undefined);
  return { ended, unref: () => launcher.unref() };
}
