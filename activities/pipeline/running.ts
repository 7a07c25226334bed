/** Records of the steps that workers are running; another worker recovers those of a dead worker. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunStep } from '../../pipelines/run.js';
import { processIdentity } from '../../platform/process-identity.js';
import { readJson, writeJson } from './files.js';
import { runningStepsFolder } from './layout.js';

export interface RunningStep {
  stepId: string;
  /** The operation's workflow ID. */
  operationId: string;
  /** The activity's workflow. */
  workflowId: string;
  runId: string;
  namespace: string;
  /** Temporal's attempt of the activity. */
  attempt: number;
  /** Task token of the activity, base64; Temporal accepts its result from any process. */
  taskToken: string;
  /** The step, without script and environment. */
  step: RunStep;
  worker: { pid: number; startedAt: string };
}

/** Records that this process runs a step. */
export async function recordRunning(
  home: string,
  running: Omit<RunningStep, 'worker' | 'step'> & { step: RunStep },
): Promise<void> {
  const folder = runningStepsFolder(home);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const startedAt = processIdentity(process.pid)?.startedAt ?? '';
  await writeJson(join(folder, `${running.stepId}.json`), {
    ...running,
    step: { ...running.step, run: '', env: {}, approval: undefined },
    worker: { pid: process.pid, startedAt },
  });
}

export function removeRunning(home: string, stepId: string): Promise<void> {
  return rm(join(runningStepsFolder(home), `${stepId}.json`), { force: true });
}

/** Steps that workers of this host run, or ran as they died. */
export async function runningSteps(home: string): Promise<RunningStep[]> {
  const folder = runningStepsFolder(home);
  const names = await readdir(folder).catch(() => []);
  const all = await Promise.all(
    names.filter((name) => name.endsWith('.json')).map((name) => readJson<RunningStep>(join(folder, name))),
  );
  return all.filter((running) => running !== undefined);
}

/** Steps whose worker has died. Running workers may use the same folder. */
export async function abandonedSteps(home: string): Promise<RunningStep[]> {
  return (await runningSteps(home)).filter(isAbandoned);
}

export function isAbandoned({ worker }: RunningStep): boolean {
  return processIdentity(worker.pid)?.startedAt !== worker.startedAt;
}
