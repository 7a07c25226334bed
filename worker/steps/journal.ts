/**
 * Journal of a step's runs on a host's disk: one folder per run, with the launcher's records and the worker's `start.json`,
 * which is written before anything starts. It shows a worker whether a step runs, and how it ended.
 */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedIfMissing } from '../../platform/home/atomic-files.js';
import { bootId } from '../../platform/home/process-identity.js';
import type { AttemptRecord } from '../../activities/runtime/attempt-span.js';
import { readJson, writeJson } from './files.js';
import { FIRST_LAUNCHER_FILE, RUNNING_FILE, writeScripts } from './launcher/record.js';
import type { ChildPaths } from './layout.js';
import { spoolFolder, SPOOL_OPEN_FILE } from './output/spool.js';

/** On disk before a step's process starts. */
export interface StartRecord {
  /** LONGHAUL_STEP_ID of the run's processes. */
  stepId: string;
  workflowId: string;
  /** Run ID of the workflow. After a reset, the replaced workflow run's runs don't count. */
  runId: string;
  /** Temporal's attempt of the activity. */
  attempt: number;
  /** Digest of its secrets' values: see `secretsDigest`. Missing if it has none. */
  secretsDigest?: string;
  /** ID of the host's boot; empty where the system has none. */
  boot: string;
  /** Path of the step's own cgroup, which may not exist. Missing if it has none. */
  cgroup?: string;
  /** ISO 8601, UTC. */
  startedAt: string;
  /** Span of the attempt that started it; missing if none is recorded. */
  span?: AttemptRecord;
}

export interface Attempt {
  folder: string;
  step: number;
  round: number;
  number: number;
  start: StartRecord;
}

/** All started runs of a child's steps, or of one step; the latest last. */
export async function findAttempts(paths: ChildPaths, step?: number): Promise<Attempt[]> {
  const found: Attempt[] = [];
  for (const name of step === undefined ? await list(paths.steps) : [String(step)]) {
    for (const run of await list(join(paths.steps, name))) {
      const [, round, number] = /^(\d+)\.(\d+)$/.exec(run) ?? [];
      const folder = join(paths.steps, name, run);
      const start = number ? await readJson<StartRecord>(join(folder, 'start.json')) : undefined;
      if (start)
        found.push({ folder, step: Number(name), round: Number(round), number: Number(number), start });
    }
  }
  return found.sort((one, other) => one.round - other.round || one.number - other.number);
}

async function list(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(undefinedIfMissing)) ?? [];
}

export function outputFile(folder: string): string {
  return join(folder, 'output');
}

/** Makes the folder of a new run: its script, its launcher, and empty files for its outputs and for the launcher to rename. */
export async function prepareRun(folder: string, script: string): Promise<void> {
  // Left by a failed start.
  await rm(folder, { recursive: true, force: true });
  await mkdir(spoolFolder(folder), { recursive: true, mode: 0o700 });
  await writeFile(join(folder, 'script.sh'), script.endsWith('\n') ? script : `${script}\n`);
  await writeScripts(folder);
  await writeFile(outputFile(folder), '');
  await writeFile(join(folder, RUNNING_FILE), '');
  await writeFile(join(spoolFolder(folder), SPOOL_OPEN_FILE), '');
}

/** Records a start; it is on disk once this resolves. */
export function recordStart(folder: string, start: StartRecord): Promise<void> {
  return writeJson(join(folder, 'start.json'), start);
}

/** Whether a run without a launcher's record never started because its worker was killed. False if that is unknown. */
export async function hasNotStarted(folder: string): Promise<boolean> {
  const start = await readJson<StartRecord>(join(folder, 'start.json'));
  if (!start?.boot || start.boot !== bootId()) return false;
  return !(await readdir(folder)).includes(FIRST_LAUNCHER_FILE);
}

export function removeStart(folder: string): Promise<void> {
  return rm(join(folder, 'start.json'), { force: true });
}
