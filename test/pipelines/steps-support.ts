/** Running steps as real processes, without Temporal, each test on a home of its own. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readdirSync } from 'node:fs';
import { processesOfStep } from '../../activities/pipeline/leftovers.js';
import { childPaths, type ChildPaths } from '../../activities/pipeline/layout.js';
import { findAttempts } from '../../activities/pipeline/journal.js';
import { runStep, type StepContext } from '../../activities/pipeline/run-step.js';
import { openWorkspace } from '../../activities/pipeline/workspace.js';
import type { OpenWorkspace, RunStep, StepDone, StepFailureDetails } from '../../pipelines/run.js';
import { logKey } from '../../platform/storage-keys.js';
import { folderStorage, type Storage } from '../../platform/storage.js';

export const CHILD = { job: 'build' };

/** Failure of a step, as Temporal shows it. */
export interface Failed {
  name: string;
  type: string;
  message: string;
  nonRetryable: boolean;
  trouble: StepFailureDetails;
}

export class StepHome {
  readonly home = mkdtempSync(join(tmpdir(), 'longhaul-steps-'));
  readonly storage: Storage = folderStorage(join(this.home, 'storage'));
  readonly workflowId = 'operation-1';
  readonly lines: string[] = [];

  static async open(opening: Partial<OpenWorkspace> = {}): Promise<StepHome> {
    const home = new StepHome();
    await home.openWorkspace(opening);
    return home;
  }

  openWorkspace(opening: Partial<OpenWorkspace> = {}, workflowId = this.workflowId): Promise<boolean> {
    return openWorkspace(
      { child: CHILD, inputs: {}, secrets: [], artifacts: [], ...opening },
      {
        home: this.home,
        storage: this.storage,
        workflowId,
        namespace: 'default',
        queryInputs: () => Promise.reject(new Error('the inputs are given')),
      },
    );
  }

  get paths(): ChildPaths {
    return childPaths(this.home, this.workflowId, CHILD);
  }

  around(around: Partial<StepContext> = {}): StepContext {
    return {
      settings: { home: this.home, stepEnvironment: [] },
      storage: this.storage,
      operationId: around.workflowId ?? this.workflowId,
      workflowId: this.workflowId,
      runId: 'run-1',
      namespace: 'default',
      token: 'token-1',
      attempt: 1,
      taskToken: 'dG9rZW4=',
      stop: new AbortController().signal,
      onLine: (line) => this.lines.push(line),
      graceMs: 1_000,
      ...around,
    };
  }

  run(run: string, step: Partial<RunStep> = {}, around: Partial<StepContext> = {}): Promise<StepDone> {
    return runStep(stepOf(run, step), this.around(around));
  }

  /** Runs a step that is to fail. */
  async failed(run: string, step: Partial<RunStep> = {}, around: Partial<StepContext> = {}): Promise<Failed> {
    return failureOf(this.run(run, step, around));
  }

  log(step = 1): string {
    try {
      return readFileSync(join(this.home, 'storage', logKey(this.workflowId, 'build', step)), 'utf8');
    } catch {
      return '';
    }
  }

  /** Processes that are left of any step of this home. */
  async leftovers(): Promise<number[]> {
    const attempts = await findAttempts(this.paths);
    return attempts.flatMap(({ start }) => processesOfStep(start.stepId));
  }

  runningFiles(): string[] {
    try {
      return readdirSync(join(this.home, 'running-steps'));
    } catch {
      return [];
    }
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

export function stepOf(run: string, step: Partial<RunStep> = {}): RunStep {
  return { child: CHILD, step: 1, name: 'compile', run, env: {}, secrets: [], round: 1, ...step };
}

export async function failureOf(promise: Promise<unknown>): Promise<Failed> {
  try {
    await promise;
  } catch (error) {
    const { name, type, message, nonRetryable, details } = error as any;
    return { name, type, message, nonRetryable, trouble: details?.[0] };
  }
  throw new Error('it did not fail');
}
