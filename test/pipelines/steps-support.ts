/** Running steps as real processes, without Temporal, each test on a home of its own. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ActivityCancelledError,
  ActivityNotFoundError,
  QueryRejectedError,
  type Client,
} from '@temporalio/client';
import proto from '@temporalio/proto';
import { expect } from '@jest/globals';
import { createLogger } from '../../platform/observe/log.js';
import { adoptSteps, type AdoptionContext } from '../../worker/steps/adopt-steps.js';
import { hostId } from '../../worker/steps/host.js';
import { endRun } from '../../worker/steps/end-steps.js';
import { HostSteps, type HostStepsOptions } from '../../worker/steps/host-steps.js';
import { processesOfStep } from '../../worker/steps/leftovers.js';
import { childPaths, type ChildPaths } from '../../worker/steps/layout.js';
import { findAttempts } from '../../worker/steps/journal.js';
import { runStep, type StepContext } from '../../worker/steps/run-step.js';
import { openWorkspace } from '../../activities/pipeline/workspace.js';
import type { OpenWorkspace, RunStep, StepDone, StepFailureDetails } from '../../pipelines/run.js';
import { defined } from '../../operations/json/defined.js';
import { folderStorage, type Storage } from '../../platform/storage/index.js';
import { stepLogText } from '../support/stored-log.js';

const { WORKFLOW_EXECUTION_STATUS_PAUSED } = proto.temporal.api.enums.v1.WorkflowExecutionStatus;

export const CHILD = { job: 'build' };

export interface Failed {
  name: string;
  type: string;
  message: string;
  nonRetryable: boolean;
  trouble: StepFailureDetails;
}

/** Context of a step, and options of the process that follows it. */
type Around = Partial<StepContext> &
  Pick<Partial<HostStepsOptions>, 'graceMs' | 'logLimitBytes' | 'storage' | 'containment'>;

/** How Temporal answers the heartbeats of adopted steps. */
interface Temporal {
  /** Steps of the worker process. Default: those of this one */
  steps?: HostSteps;
  isClosed?: boolean;
  /** Whether an operator has paused the workflow, whose attempt has timed out. */
  isPaused?: boolean;
  isTimedOut?: boolean;
  isCanceled?: boolean;
}

export class StepHome {
  readonly home: string;
  readonly storage: Storage;
  readonly workflowId = 'operation-1';
  readonly lines: string[] = [];
  readonly steps: HostSteps;
  /** Details of the heartbeats of adopted steps. */
  readonly heartbeats: unknown[] = [];
  /** Outcomes of adopted steps, as they were reported. */
  readonly outcomes: any[] = [];

  constructor(parent = tmpdir()) {
    this.home = mkdtempSync(join(parent, 'longhaul-steps-'));
    this.storage = folderStorage(join(this.home, 'storage'));
    this.steps = this.hostSteps();
  }

  static async open(opening: Partial<OpenWorkspace> = {}, parent?: string): Promise<StepHome> {
    const home = new StepHome(parent);
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

  /** Steps as a worker process follows them. */
  hostSteps(options: Partial<HostStepsOptions> = {}): HostSteps {
    return new HostSteps({
      settings: { home: this.home },
      storage: this.storage,
      graceMs: 1_000,
      ...options,
    });
  }

  around({ graceMs, logLimitBytes, storage, containment, ...around }: Around = {}): StepContext {
    const { environment } = around;
    const options = defined({ graceMs, logLimitBytes, storage, containment, environment });
    return {
      settings: { home: this.home, project: '/project', stepEnvironment: [], stepsEndWithWorker: false },
      steps: Object.keys(options).length ? this.hostSteps(options) : this.steps,
      operationId: around.workflowId ?? this.workflowId,
      workflowId: this.workflowId,
      runId: 'run-1',
      namespace: 'default',
      taskQueue: 'queue-1',
      token: 'token-1',
      activityId: '1',
      attempt: 1,
      taskToken: 'dG9rZW4=',
      stop: new AbortController().signal,
      onLine: (line) => this.lines.push(line),
      ...around,
    };
  }

  run(run: string, step: Partial<RunStep> = {}, around: Around = {}): Promise<StepDone> {
    return runStep(stepOf(run, step), this.around(around));
  }

  async failed(run: string, step: Partial<RunStep> = {}, around: Around = {}): Promise<Failed> {
    return failureOf(this.run(run, step, around));
  }

  /** Context of a worker that adopts steps, with a Temporal that answers heartbeats as given and takes all outcomes. */
  adoption({
    steps = this.steps,
    isClosed,
    isPaused,
    isTimedOut,
    isCanceled,
  }: Temporal = {}): AdoptionContext {
    const activity = {
      heartbeat: async (_token: Uint8Array, details: unknown) => {
        this.heartbeats.push(details);
        if (isClosed || isPaused || isTimedOut) throw new ActivityNotFoundError('not found');
        if (isCanceled) throw new ActivityCancelledError('cancelled');
      },
    };
    const workflow = {
      getHandle: () => ({
        describe: async () => ({
          status: { name: isClosed ? 'TERMINATED' : isPaused ? 'PAUSED' : 'RUNNING' },
        }),
        query: async () => {
          if (isPaused) throw new QueryRejectedError(WORKFLOW_EXECUTION_STATUS_PAUSED);
          return { children: [{ name: 'build', host: hostId(this.home) }] };
        },
      }),
    };
    const withDeadline = (_deadline: number, call: () => Promise<unknown>) => call();
    const client = {
      ...{ options: { namespace: 'default' }, activity, workflow, withDeadline },
    } as unknown as Client;
    return {
      settings: { home: this.home, taskQueue: 'queue-1', heartbeatSeconds: 1 },
      steps,
      client: () => client,
      reportOutcome: async ({ taskToken }, outcome) => {
        const token = Buffer.from(taskToken).toString('base64');
        if (outcome.status === 'canceled') this.outcomes.push({ token, type: 'canceled' });
        if (outcome.status === 'completed') this.outcomes.push({ token, done: outcome.result });
        if (outcome.status === 'failed') {
          const { type, message, details } = outcome.error as any;
          this.outcomes.push({ token, type, message, trouble: details?.[0] });
        }
        return true;
      },
      logger: createLogger('worker', 'silent'),
    };
  }

  /** Adopts the steps that nobody follows, and waits for their ends. */
  async adopt(temporal: Temporal = {}): Promise<void> {
    const { settled } = await adoptSteps(this.adoption(temporal));
    await settled;
  }

  log(step = 1): string {
    return stepLogText(this.home, this.workflowId, 'build', step);
  }

  /** Processes that are left of any step of this home. */
  async leftovers(): Promise<number[]> {
    const attempts = await findAttempts(this.paths);
    return attempts.flatMap(({ start }) => processesOfStep(start));
  }

  runningFiles(): string[] {
    try {
      return readdirSync(join(this.home, 'running-steps'));
    } catch {
      return [];
    }
  }

  /** Removes the home, of whose steps neither a process nor a record is left. */
  async removeClean(): Promise<void> {
    const records = this.runningFiles();
    expect(await this.remove()).toEqual([]);
    expect(records).toEqual([]);
  }

  /** Removes the home. @returns the processes that were left of its steps; they are killed */
  async remove(): Promise<number[]> {
    const left = await this.leftovers();
    for (const run of await findAttempts(this.paths)) await endRun(run, 'down', 0);
    rmSync(this.home, { recursive: true, force: true });
    return left;
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
