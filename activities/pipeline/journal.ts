/**
 * Journal of a step's runs on a host's disk: one folder per run, with the worker's `start.json`, written before anything is
 * started, and the launcher's `exit.json`. A restarted worker reads from them how the step ended.
 */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedIfMissing } from '../../platform/atomic-files.js';
import { readJson, writeJson } from './files.js';
import { LAUNCHER_LIMIT_MS, STOP_GRACE_MS } from './launcher.js';
import { readExit, type ExitRecord } from './launcher-record.js';
import { LAUNCHER_FILE, LAUNCHER_SCRIPT } from './launcher-script.js';
import { endLeftovers } from './leftovers.js';
import type { ChildPaths } from './layout.js';

/** Record that is on disk before a step's process is started. */
export interface StartRecord {
  /** Value of the environment variable that identifies the run's processes. */
  stepId: string;
  workflowId: string;
  /** Run ID of the workflow. After a reset, runs of the step in the replaced workflow run don't count. */
  runId: string;
  /** Temporal's attempt of the activity. */
  attempt: number;
  /** ISO 8601, UTC. */
  startedAt: string;
}

/** Why a worker ended a step. */
export type StopCause = 'canceled' | 'shutdown' | 'contact' | 'given_up' | 'timeout' | 'log';

/** One run of a step. */
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

/** File that the step writes its outputs to. */
export function outputFile(folder: string): string {
  return join(folder, 'output');
}

/** Makes the folder of a new run, with its script, its launcher and an empty file for its outputs. */
export async function prepareRun(folder: string, script: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'script.sh'), script.endsWith('\n') ? script : `${script}\n`);
  await writeFile(join(folder, LAUNCHER_FILE), LAUNCHER_SCRIPT);
  await writeFile(outputFile(folder), '');
}

/** Records a start; it is on disk once this resolves. */
export function recordStart(folder: string, start: StartRecord): Promise<void> {
  return writeJson(join(folder, 'start.json'), start);
}

/** Removes the record of a start whose process could not be created. */
export function removeStart(folder: string): Promise<void> {
  return rm(join(folder, 'start.json'), { force: true });
}

/** Records why a step is about to be ended. A full disk doesn't throw, so that the step is ended anyway. */
export async function recordStop(folder: string, cause: StopCause): Promise<void> {
  await writeJson(join(folder, 'stop.json'), cause).catch(() => undefined);
}

/** Why the worker ended the step; undefined if it didn't, or couldn't record it. */
export function readStop(folder: string): Promise<StopCause | undefined> {
  return readJson(join(folder, 'stop.json'));
}

/**
 * Waits until no process of an earlier run is left; kills those that don't end.
 *
 * @returns how the run ended; undefined when that is unknown
 */
export async function awaitEnd({ folder, start }: Attempt): Promise<ExitRecord | undefined> {
  await endLeftovers(folder, start.stepId, STOP_GRACE_MS + LAUNCHER_LIMIT_MS);
  return readExit(folder);
}
