/** Starts a step's script under its launcher, so that it can't outlive its worker. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { isDiskFull } from '../../platform/disk.js';
import { readExit, readLauncher, type ExitRecord } from './launcher-record.js';
import { LAUNCHER_FILE } from './launcher-script.js';
import { killGroup, killProcessesOfStep, STEP_MARKER } from './leftovers.js';

/** Interval of the worker's lines to the launcher, which ends the step after 90 s without one, in milliseconds. */
const SIGN_OF_LIFE_MS = 15_000;

/** Time between SIGTERM and SIGKILL of a step, in milliseconds. */
export const STOP_GRACE_MS = 10_000;

/** Additional time for the launcher to end, in milliseconds. */
export const LAUNCHER_LIMIT_MS = 10_000;

/** Maximum wait for the launcher's last report after its end, in milliseconds. */
const REPORT_LIMIT_MS = 1_000;

export interface LaunchOptions {
  /** Folder of this run; it holds the step's script and the launcher. */
  folder: string;
  /** Value of LONGHAUL_STEP_ID in the environment of the step's processes. */
  stepId: string;
  workingDirectory: string;
  environment: Record<string, string>;
  /** Path of bash. */
  bash: string;
  /** PATH of the worker. */
  tools: string;
  /** The step's umask, in octal. */
  umask: string;
  graceMs: number;
}

/** A running step. */
export interface LaunchedStep {
  /** Its standard output and error, in the order of writing. */
  output: Readable;
  /** Ends it: SIGTERM to the group, SIGKILL after the grace time. */
  stop(): void;
  /**
   * Resolves once no process of the step is left; with undefined when the launcher was killed, so that the outcome is
   * unknown. Rejects when it couldn't be started, e.g. because its environment is too large (E2BIG).
   */
  ended: Promise<ExitRecord | undefined>;
}

export function launchStep({
  folder,
  stepId,
  workingDirectory,
  environment,
  bash,
  tools,
  umask,
  graceMs,
}: LaunchOptions): LaunchedStep {
  const graceTenths = String(Math.max(1, Math.round(graceMs / 100)));
  // Privileged mode (-p) ignores BASH_ENV and shell options in the step's environment.
  const launcher = execa(bash, ['-p', join(folder, LAUNCHER_FILE), folder, graceTenths, tools, umask], {
    cwd: workingDirectory,
    env: { ...environment, [STEP_MARKER]: stepId },
    extendEnv: false,
    detached: true,
    cleanup: false,
    buffer: false,
    reject: false,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let reports = '';
  launcher.stderr.on('data', (chunk: Buffer) => (reports = (reports + chunk.toString()).slice(-8192)));
  const reported = new Promise((resolve) => launcher.stderr.once('close', resolve));
  for (const stream of [launcher.stdin, launcher.stdout, launcher.stderr])
    stream.on('error', () => undefined);

  const exited = new Promise<void>((resolve, reject) => {
    launcher.once('exit', () => resolve());
    // Not awaited: a process that left the step's group may hold its output open.
    void launcher.then((result) => (result.code ? reject(result as unknown as Error) : resolve()));
  });
  const signs = setInterval(() => launcher.stdin.write('\n'), SIGN_OF_LIFE_MS);
  void exited.catch(() => undefined).then(() => clearInterval(signs));
  let kill: NodeJS.Timeout | undefined;
  let hasExited = false;
  const ended = exited.then(async () => {
    hasExited = true;
    clearTimeout(kill);
    launcher.stdin.destroy();
    await Promise.race([reported, sleep(REPORT_LIMIT_MS, undefined, { ref: false })]);
    const report = /^ended (.*)$/m.exec(reports)?.[1];
    const record = report ? (JSON.parse(report) as ExitRecord) : await readExit(folder);
    if (!record) await killGroup(folder);
    await killProcessesOfStep(stepId);
    if (!record && launcher.signalCode === null && !(await readLauncher(folder))) {
      const why = reports.trim().slice(0, 300) || 'without any output';
      const cause = (await isDiskFull(folder)) ? { code: 'ENOSPC' } : undefined;
      throw new Error(`its launcher ended at once: ${why}`, { cause });
    }
    return record;
  });
  ended.catch(() => undefined);
  return {
    output: launcher.stdout,
    ended,
    stop() {
      clearInterval(signs);
      launcher.stdin.destroy();
      // The launcher normally ends first; one that hangs must not keep the step alive.
      if (!hasExited) kill ??= setTimeout(() => launcher.kill('SIGKILL'), graceMs + LAUNCHER_LIMIT_MS);
    },
  };
}

/** Path of bash on a PATH. */
export function findBash(path: string | undefined): string | undefined {
  return (path ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, 'bash'))
    .find((candidate) => {
      try {
        accessSync(candidate, constants.X_OK);
        return statSync(candidate).isFile();
      } catch {
        return false;
      }
    });
}
