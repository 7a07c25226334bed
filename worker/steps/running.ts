/**
 * Records of the steps that run on this host. A record's file name holds the worker process that follows the step. Once that
 * worker has ended, the first worker to rename the record follows the step.
 */
import { access, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunStep } from '../../pipelines/run.js';
import { encodeFileName } from '../../platform/home/file-name.js';
import { processIdentity } from '../../platform/home/process-identity.js';
import type { WorkContext } from '../../platform/observe/work-context.js';
import { readJson, succeeds, writeJson } from './files.js';
import { findAttempts, type Attempt } from './journal.js';
import { childPaths, runningStepsFolder } from './layout.js';

/** The attempt of the activity that runs a step. */
export interface StepAttempt {
  /** The operation's workflow ID: workspaces and logs are stored under it. */
  operationId: string;
  token: string;
  /** The activity's workflow. For an item in a page, it is a child workflow of the operation. */
  workflowId: string;
  runId: string;
  namespace: string;
  taskQueue: string;
  activityId: string;
  /** Temporal's attempt of the activity, from 1. */
  attempt: number;
  /** Task token of the activity, base64. Temporal accepts its heartbeats and its result from any process. */
  taskToken: string;
}

export interface RunningStep extends StepAttempt {
  stepId: string;
  /** The step, without script and environment. */
  step: RunStep;
  /** Fields of log lines about the operation. */
  work: Pick<WorkContext, 'tool' | 'principal' | 'requestId' | 'trace'>;
  /** Whether the step had not started yet when this was written. */
  isStarting?: boolean;
}

/** A record, with the process that follows the step. */
export interface FoundStep extends RunningStep {
  /** Undefined if it was left to the next worker. */
  workerPid?: number;
  /** `own`: this process; `other`: another live one; `none`: the step waits for a worker. */
  follower: 'own' | 'other' | 'none';
  file: string;
}

/** Records that this process follows a step, or changes the record. */
export async function recordRunning(home: string, running: RunningStep): Promise<void> {
  const folder = runningStepsFolder(home);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeJson(join(folder, ownFile(running.stepId)), {
    ...running,
    step: { ...running.step, run: '', env: {}, approval: undefined },
  });
}

/** Records that a step has not started. Call it before the step's journal stops saying so. */
export async function recordNotStarted(home: string, stepId: string): Promise<void> {
  const path = join(runningStepsFolder(home), ownFile(stepId));
  const running = await readJson<RunningStep>(path);
  if (running) await writeJson(path, { ...running, isStarting: true });
}

/** Removes the record of a step that this process follows, or none does. */
export async function removeRunning(home: string, stepId: string): Promise<void> {
  for (const file of [ownFile(stepId), freeFile(stepId)])
    await rm(join(runningStepsFolder(home), file), { force: true });
}

/** Whether this process still follows a step: another one may have taken it over. */
export function isOwnRunning(home: string, stepId: string): Promise<boolean> {
  return succeeds(access(join(runningStepsFolder(home), ownFile(stepId))));
}

/** Makes this process follow a step. @returns false if another process was faster */
export function claimRunning(home: string, { file, stepId }: FoundStep): Promise<boolean> {
  return renameRecord(home, file, ownFile(stepId));
}

/** Leaves a step to the first worker that claims it. @returns false if the record has changed meanwhile */
export function releaseRunning(
  home: string,
  { stepId, file = ownFile(stepId) }: Pick<FoundStep, 'stepId'> & { file?: string },
): Promise<boolean> {
  return renameRecord(home, file, freeFile(stepId));
}

/** The steps that run on this host, or whose end hasn't been reported. */
export async function runningSteps(home: string): Promise<FoundStep[]> {
  for (let look = 1; ; look += 1) {
    const records = await readRecords(home);
    const found = records.filter((running) => running !== undefined);
    // A missing record was renamed, or its step has ended.
    if (found.length === records.length || look === MOST_LOOKS) return found;
  }
}

/** A home's records; undefined for one that another process has renamed or removed meanwhile. */
async function readRecords(home: string): Promise<(FoundStep | undefined)[]> {
  const folder = runningStepsFolder(home);
  const files = await readdir(folder).catch(() => []);
  return Promise.all(
    files
      .filter((file) => file.endsWith('.json'))
      .map(async (file): Promise<FoundStep | undefined> => {
        const running = await readJson<RunningStep>(join(folder, file));
        return running && { ...running, file, ...followerOf(file) };
      }),
  );
}

/** The run of a step that is recorded as running; undefined if its start is not recorded. */
export async function runOf(
  home: string,
  { step, operationId, stepId }: RunningStep,
): Promise<Attempt | undefined> {
  const attempts = await findAttempts(childPaths(home, operationId, step.child), step.step);
  return attempts.find(({ start }) => start.stepId === stepId);
}

/** Maximum number of reads while other processes rename records. */
const MOST_LOOKS = 20;

/** Step ID, then PID and start time of the worker. */
const FILE = /^([^.]+)\.(\d+)\.(.*)\.json$/;

function followerOf(file: string): Pick<FoundStep, 'workerPid' | 'follower'> {
  const [, , pid, startedAt] = FILE.exec(file) ?? [];
  if (pid === undefined) return { follower: 'none' };
  const workerPid = Number(pid);
  if (startedAt === startOf(workerPid))
    return { workerPid, follower: workerPid === process.pid ? 'own' : 'other' };
  return { workerPid, follower: 'none' };
}

const ownStart = startOf(process.pid);

function ownFile(stepId: string): string {
  return `${stepId}.${process.pid}.${ownStart}.json`;
}

function freeFile(stepId: string): string {
  return `${stepId}.json`;
}

function startOf(pid: number): string | undefined {
  const startedAt = processIdentity(pid)?.startedAt;
  return startedAt === undefined ? undefined : encodeFileName(startedAt);
}

function renameRecord(home: string, from: string, to: string): Promise<boolean> {
  const folder = runningStepsFolder(home);
  return succeeds(rename(join(folder, from), join(folder, to)));
}
