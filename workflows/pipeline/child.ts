/**
 * One job, or one item of a job that runs for each: its steps one after another, in one workspace on one host. What
 * happens is written into its record, which the operation shows.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  log,
  patched,
  proxyActivities,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type * as activities from '../../activities/pipeline/index.js';
import type { ChildRecord, StepRecord } from '../../operations/record.js';
import type { Job, Pipeline, Step } from '../../pipelines/pipeline.js';
import {
  childName,
  hostTaskQueue,
  STEP_TIMED_OUT,
  type ArtifactReference,
  type ChildId,
  type OpenWorkspace,
  type PipelineRun,
  type StepDone,
} from '../../pipelines/run.js';
import { progress, stage } from '../runtime/index.js';
import { marker } from '../runtime/state.js';
import { hostAnswered, onHost, StartJobAgain } from './hosts.js';
import { BAD_OUTPUT, misfitOf } from './outputs.js';
import { awaitApproval } from './questions.js';
import { rootOf, runStep, failureDetails, type StepOwner } from './step.js';

/** How long a step that runs after a cancel may take when it has no time-out of its own, in minutes. */
const LAST_STEPS_MINUTES = 5;
/** How long to wait for a host that has an earlier operation's workspace. */
const TAKE_OVER_WAIT_MS = 60_000;
/** Patch: outputs are checked as their job ends; histories from before check them as the pipeline ends. */
const OUTPUTS_CHECKED_BY_JOB = 'pipeline-outputs-checked-by-job';

/** Why a step, and with it its job, failed. */
export interface Failure {
  /** For people: which step, how, and the last lines of its log. */
  message: string;
  type: string;
}

export class Child implements StepOwner {
  readonly record: ChildRecord;
  failure: Failure | undefined;
  /** The steps that are finished already come from an earlier operation, whose workspace this is to go on in. */
  earlier: { workflowId: string; host: string } | undefined;
  isEnding = false;
  #isWorkspaceOpen = false;
  /** Key of an output -> number of the step that wrote it, from 1. Outputs of an earlier operation have none. */
  readonly #writers = new Map<string, number>();

  constructor(
    readonly pipeline: Pipeline,
    readonly id: ChildId,
    private readonly inputs: Record<string, unknown>,
    item: unknown,
  ) {
    this.record = {
      name: childName(id),
      status: 'pending',
      ...(item === undefined ? {} : { item }),
      steps: this.job.steps.map(({ name }) => ({ name, status: 'pending' })),
    };
  }

  get job(): Job {
    return this.pipeline.jobs[this.id.job]!;
  }

  get host(): string {
    return this.record.host!;
  }

  unrepeatable(untaken: StepRecord | undefined): string[] {
    return this.record.steps
      .filter((record, at) => {
        const { status } = record;
        const { run, idempotent } = this.job.steps[at]!;
        return (
          run !== undefined && !idempotent && record !== untaken && !['pending', 'skipped'].includes(status)
        );
      })
      .map(({ name }) => name);
  }

  #workspace(artifacts: ArtifactReference[]): OpenWorkspace {
    const { item } = this.record;
    const { secrets } = this.pipeline;
    return {
      child: this.id,
      inputs: this.inputs,
      ...(item === undefined ? {} : { item }),
      secrets,
      artifacts,
    };
  }

  /** It isn't due. */
  skip(): void {
    this.record.status = 'skipped';
    this.#skipRest();
  }

  #skipRest(): void {
    for (const step of this.record.steps) if (step.status === 'pending') step.status = 'skipped';
    showProgress();
  }

  /**
   * Runs the steps that are left, and checks the job's outputs. A failure of either is in {@link failure}.
   *
   * @param artifacts of the jobs that this one needs
   * @throws CancelledFailure, and whatever is a defect
   */
  async run(artifacts: ArtifactReference[]): Promise<void> {
    const { record } = this;
    if (record.status === 'completed') {
      this.#checkOutputs();
      if (this.failure) record.status = 'failed';
      return;
    }
    record.status = 'working';
    try {
      await this.#prepare(artifacts);
      for (;;) {
        try {
          await this.#runSteps();
          this.#checkOutputs();
          await this.#saveArtifacts();
          break;
        } catch (again) {
          if (!(again instanceof StartJobAgain)) throw again;
          this.#startAgain(again.message);
          await this.#open({ artifacts });
        }
      }
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure || error instanceof ApplicationFailure))
        throw error;
      this.#fail(`${record.name}: ${rootOf(error).message}`, rootOf(error).type);
      this.#skipRest();
    }
    record.status = this.failure ? 'failed' : 'completed';
  }

  async #prepare(artifacts: ArtifactReference[]): Promise<void> {
    if (!this.job.steps.some((step) => step.run) && this.job.artifacts.length === 0) return;
    if (this.earlier && (await this.#open({ artifacts, ...this.earlier }))) return;
    if (this.earlier) this.#startAgain('the workspace of the earlier operation is gone');
    await this.#open({ artifacts });
  }

  /** @returns whether the earlier operation's workspace is now this one's */
  async #open({
    artifacts,
    workflowId,
    host,
  }: {
    artifacts: ArtifactReference[];
    workflowId?: string;
    host?: string;
  }): Promise<boolean> {
    const { taskQueue } = workflowInfo();
    const { openPipelineWorkspace } = proxyActivities<typeof activities>({
      startToCloseTimeout: '1h',
      retry: { maximumAttempts: 5 },
      ...(host === undefined
        ? {}
        : { taskQueue: hostTaskQueue(taskQueue, host), scheduleToStartTimeout: TAKE_OVER_WAIT_MS }),
      summary: `${this.record.name}: workspace`,
    });
    const createdAt = marker()?.createdAt;
    const request = {
      ...this.#workspace(artifacts),
      ...(workflowId === undefined ? {} : { takeOverFrom: workflowId }),
      ...(createdAt === undefined ? {} : { createdAt }),
    };
    try {
      const opened = await openPipelineWorkspace(request);
      this.record.host = opened.host;
      hostAnswered(opened.host);
      this.#isWorkspaceOpen = true;
      return opened.isTakenOver;
    } catch (error) {
      if (host !== undefined && error instanceof ActivityFailure && error.cause instanceof TimeoutFailure)
        return false;
      throw error;
    }
  }

  #startAgain(why: string): void {
    this.record.statusMessage = `started again: ${why}`;
    log.warn('a job starts again from its first step', { job: this.record.name, why });
    this.failure = undefined;
    this.#isWorkspaceOpen = false;
    delete this.record.outputs;
    this.#writers.clear();
    delete this.record.approval;
    this.record.steps.forEach((step, at) => {
      this.record.steps[at] = { name: step.name, status: 'pending' };
    });
  }

  async #runSteps(): Promise<void> {
    const { steps } = this.record;
    for (const [at, step] of this.job.steps.entries()) {
      const record = steps[at]!;
      if (record.status !== 'pending') continue;
      const before = this.job.steps.slice(0, at).map((earlier, i) => ({ earlier, status: steps[i]!.status }));
      const hasFailed = before.some(({ status }) => status === 'failed' || status === 'timed_out');
      if (step.if === 'always' || (step.if === 'failure' ? hasFailed : !this.failure))
        await this.#runStep(step, at, record);
      else record.status = 'skipped';
      showProgress(`${this.record.name} / ${step.name}: ${record.status.replace('_', ' ')}`);
    }
  }

  async #runStep(step: Step, at: number, record: StepRecord, limits: Partial<Step> = {}): Promise<void> {
    stage(`${this.record.name} / ${step.name}`);
    record.status = 'working';
    if (!step.approval) record.startedAt = new Date().toISOString();
    try {
      const done = await this.#perform({ ...step, ...limits }, at, record);
      record.status = 'completed';
      if (step.run) record.exitCode = done.exitCode;
      this.#keepOutputs(done.outputs, at + 1);
    } catch (error) {
      if (isCancellation(error)) {
        record.status = 'canceled';
        throw error;
      }
      if (!(error instanceof ActivityFailure || error instanceof ApplicationFailure)) throw error;
      this.#failStep(step, at, record, error);
    } finally {
      record.closedAt = new Date().toISOString();
    }
  }

  async #perform(step: Step, at: number, record: StepRecord): Promise<StepDone> {
    if (step.approval) {
      const { outputs = {} } = this.record;
      this.record.status = record.status = 'input_required';
      const answers = await awaitApproval(this.record.name, step.name, step.approval, outputs);
      this.record.status = record.status = 'working';
      record.startedAt = new Date().toISOString();
      this.record.approval = { ...this.record.approval, ...answers };
    }
    if (!step.run) return { exitCode: 0, outputs: {} };
    return runStep(this, step, at + 1, record);
  }

  #keepOutputs(written: Record<string, string>, step: number): void {
    if (Object.keys(written).length > 0) this.record.outputs = { ...this.record.outputs, ...written };
    for (const key of Object.keys(written)) this.#writers.set(key, step);
  }

  /**
   * Fails the job when the pipeline declares an output that a value of it doesn't fit. Its finished steps stay finished,
   * so that a resume repeats none of them unasked.
   */
  #checkOutputs(): void {
    if (this.failure) return;
    const misfit = misfitOf(this.pipeline, this.id, this.record.outputs ?? {}, this.#writers);
    if (misfit === undefined || !patched(OUTPUTS_CHECKED_BY_JOB)) return;
    this.#fail(`${this.record.name}: ${misfit}`, BAD_OUTPUT);
  }

  #failStep(step: Step, at: number, record: StepRecord, error: ActivityFailure | ApplicationFailure): void {
    const root = rootOf(error);
    const trouble = failureDetails(root);
    record.status = root.type === STEP_TIMED_OUT ? 'timed_out' : 'failed';
    if (trouble?.exitCode !== undefined) record.exitCode = trouble.exitCode;
    if (trouble) this.#keepOutputs(trouble.outputs, at + 1);
    if (step.continueOnError) return;
    const lastLines = trouble?.lastLines.length
      ? `\n\nLast lines of its log:\n${trouble.lastLines.join('\n')}`
      : '';
    this.#fail(`${this.record.name}: ${root.message}${lastLines}`, root.type);
  }

  #fail(message: string, type: string | null | undefined): void {
    if (this.failure) return;
    this.failure = { message, type: type ?? 'StepFailed' };
    this.record.statusMessage = message.split('\n', 1)[0]!;
  }

  async #saveArtifacts(): Promise<void> {
    const { artifacts: patterns } = this.job;
    if (patterns.length === 0 || !this.#isWorkspaceOpen) return;
    const isLast = this.isEnding || this.failure !== undefined;
    const saved = await onHost(
      this,
      { what: 'saving the artifacts', mayHaveBegun: false, isLast },
      (queueWaitMs) => {
        const { savePipelineArtifacts } = proxyActivities<typeof activities>({
          taskQueue: hostTaskQueue(workflowInfo().taskQueue, this.host),
          scheduleToStartTimeout: queueWaitMs,
          startToCloseTimeout: '1h',
          retry: { maximumAttempts: 5 },
          summary: `${this.record.name}: artifacts`,
        });
        return savePipelineArtifacts({
          child: this.id,
          patterns,
          secrets: this.pipeline.secrets,
          ...(this.failure ? { isOptional: true } : {}),
        });
      },
    );
    this.record.artifacts = saved.map(({ name, path, bytes, workflowId }) => ({
      name,
      path,
      bytes,
      workflowId,
    }));
  }

  /** After a cancel or the end of the time: the steps that run in any case, then the record's last word. */
  async endUnfinished(reason: 'canceled' | 'timed_out' | 'failed'): Promise<void> {
    if (['completed', 'failed', 'skipped'].includes(this.record.status)) return;
    const how = reason === 'timed_out' ? 'timed_out' : 'canceled';
    this.isEnding = true;
    const { steps } = this.record;
    for (const record of steps)
      if (record.status === 'working' || record.status === 'input_required') record.status = how;
    for (const [at, step] of this.job.steps.entries()) {
      const record = steps[at]!;
      if (record.status !== 'pending') continue;
      const isDue = step.if === 'always' && step.run && !step.approval && this.#isWorkspaceOpen;
      if (isDue)
        await this.#runStep(step, at, record, { timeoutMinutes: step.timeoutMinutes ?? LAST_STEPS_MINUTES });
      else record.status = how;
    }
    if (this.#isWorkspaceOpen) {
      this.failure ??= { message: how, type: how };
      try {
        await this.#saveArtifacts();
      } catch (error) {
        if (!(error instanceof ActivityFailure || error instanceof ApplicationFailure)) throw error;
        this.record.statusMessage = `artifacts were not saved: ${rootOf(error).message}`;
      }
    }
    this.record.status = how;
  }
}

/** Every child of this workflow execution: the sandbox gives each its own modules. */
const all: Child[] = [];

/** All children of a run, with nothing done yet. */
export function plannedChildren(run: PipelineRun): Child[] {
  all.push(...plan(run));
  return all;
}

/** What the last step that ended came to. */
let lastStep: string | undefined;

/**
 * Counts the steps that need no more work: skipped ones too, so that the total is reached, and the message says how many they
 * are. {@link progress} never goes back.
 */
export function showProgress(step?: string): void {
  lastStep = step ?? lastStep;
  const steps = all.flatMap(({ record }) => record.steps);
  const isLeft = ({ status }: StepRecord) => ['pending', 'working', 'input_required'].includes(status);
  const finished = steps.filter((one) => !isLeft(one)).length;
  const skipped = steps.filter(({ status }) => status === 'skipped').length;
  const message = [skipped > 0 ? `${skipped} skipped` : undefined, lastStep].filter(Boolean).join('; ');
  progress({ progress: finished, ...(message === '' ? {} : { message }) });
}

function plan({ pipeline, inputs }: PipelineRun): Child[] {
  return Object.entries(pipeline.jobs).flatMap(([job, { forEach }]) => {
    if (forEach === undefined) return [new Child(pipeline, { job }, inputs, undefined)];
    const items = inputs[forEach];
    return (Array.isArray(items) ? (items as unknown[]) : []).map(
      (item, index) => new Child(pipeline, { job, index }, inputs, item),
    );
  });
}
