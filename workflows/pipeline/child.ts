/**
 * One child of a pipeline: a job, or one item of a `for-each` job. Its steps run in sequence, in one workspace on one host. The
 * operation shows its record, which holds its state.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  log,
  TimeoutFailure,
} from '@temporalio/workflow';
import { defined } from '../../operations/json/defined.js';
import type { ChildRecord, StepRecord } from '../../operations/record.js';
import { needsWorkspace } from '../../pipelines/history-size.js';
import { pendingSteps } from '../../pipelines/parts.js';
import { LAST_STEPS_MINUTES, type Job, type Pipeline, type Step } from '../../pipelines/pipeline.js';
import {
  childName,
  STEP_TIMED_OUT,
  type ArtifactReference,
  type ChildFailure,
  type ChildId,
  type StepDone,
} from '../../pipelines/run.js';
import { stage } from '../runtime/index.js';
import { changeState, state } from '../runtime/state.js';
import type { JobPart, SharedInputs } from './job-part.js';
import { gatesToPass } from './gates.js';
import { clearHostDrop, StartJobAgain } from './hosts.js';
import { BAD_OUTPUT, outputProblems } from './outputs.js';
import { showProgress } from './progress.js';
import { awaitApproval } from './questions.js';
import {
  failureDetails,
  openWorkspace,
  rootFailure,
  runStep,
  saveArtifacts,
  unsavedDetails,
  type EarlierWorkspace,
  type StepOwner,
} from './step.js';

export class Child implements StepOwner, JobPart {
  readonly record: ChildRecord;
  failure: Omit<ChildFailure, 'name'> | undefined;
  /** Workspace of the earlier operation that this child resumes; undefined for a new one. */
  earlier: EarlierWorkspace | undefined;
  isEnding = false;
  #isWorkspaceOpen = false;
  /** Positions of an earlier operation's approvals to ask for again, from 0. */
  #gates: number[] = [];
  /** Key of an output -> number of the step that wrote it, from 1. An earlier operation's outputs have none. */
  readonly #writers = new Map<string, number>();

  constructor(
    readonly pipeline: Pipeline,
    readonly id: ChildId,
    private readonly shared: SharedInputs,
    item: unknown,
  ) {
    this.record = {
      name: childName(id),
      status: 'pending',
      ...(item === undefined ? {} : { item }),
      steps: pendingSteps(this.job),
    };
  }

  get job(): Job {
    return this.pipeline.jobs[this.id.job]!;
  }

  get host(): string {
    return this.record.host!;
  }

  failures(): ChildFailure[] {
    return this.failure ? [{ name: this.record.name, ...this.failure }] : [];
  }

  get failureCount(): number {
    return this.failure ? 1 : 0;
  }

  artifacts(): ArtifactReference[] {
    return (this.record.artifacts ?? []).map((artifact) => ({ ...artifact, child: this.id }));
  }

  outputs(key: string): (string | null)[] {
    return [this.record.outputs?.[key] ?? null];
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

  get hasWork(): boolean {
    return this.record.status !== 'completed';
  }

  holdGates(areJobsBehind: boolean): void {
    this.#gates = gatesToPass(this.job, this.record, this.shared.approvedFor, areJobsBehind);
  }

  skip(): void {
    this.record.status = 'skipped';
    this.#skipRest();
  }

  #skipRest(): void {
    for (const step of this.record.steps) if (step.status === 'pending') step.status = 'skipped';
    showProgress();
  }

  /**
   * Runs the remaining steps and checks the job's outputs. {@link failure} holds a failure of either.
   *
   * @throws CancelledFailure; any error that isn't a Temporal failure, which is a defect
   */
  async run(artifacts: ArtifactReference[]): Promise<void> {
    const { record } = this;
    if (record.status === 'completed') {
      await this.#passGates();
      this.#checkOutputs();
      record.status = this.failure ? 'failed' : 'completed';
      return;
    }
    record.status = 'working';
    try {
      await this.#passGates();
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
          await this.#open(artifacts);
          // A first step that starts again has the stage of before, which wouldn't write the new host.
          changeState({ children: state().children });
        }
      }
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure || error instanceof ApplicationFailure))
        throw error;
      this.#fail(`${record.name}: ${rootFailure(error).message}`, rootFailure(error).type);
      this.#skipRest();
    }
    record.status = this.failure ? 'failed' : 'completed';
  }

  /** Asks for an earlier operation's approvals again. A declined one fails the job. */
  async #passGates(): Promise<void> {
    for (const at of this.#gates.splice(0)) {
      const step = this.job.steps[at]!;
      const record = this.record.steps[at]!;
      const { status } = record;
      stage(`${this.record.name} / ${step.name}`);
      try {
        await this.#ask(step, record);
        // The step's script isn't run again.
        record.status = step.run ? status : 'completed';
      } catch (error) {
        record.status = step.run ? status : isCancellation(error) ? 'canceled' : 'failed';
        if (!(error instanceof ApplicationFailure)) throw error;
        this.#fail(`${this.record.name}: ${error.message}`, error.type);
        return;
      } finally {
        if (!step.run) record.closedAt = new Date().toISOString();
      }
      showProgress();
    }
  }

  /** @throws ApplicationFailure `Declined` */
  async #ask({ name, approval }: Step, record: StepRecord): Promise<void> {
    const { outputs = {} } = this.record;
    delete record.approvedFor;
    this.record.status = record.status = 'input_required';
    const answers = await awaitApproval(this.record.name, name, approval!, outputs);
    this.record.status = record.status = 'working';
    Object.assign(record, defined({ approvedFor: this.shared.approvedFor }));
    this.record.approval = { ...this.record.approval, ...answers };
  }

  async #prepare(artifacts: ArtifactReference[]): Promise<void> {
    if (!needsWorkspace(this.job)) return;
    if (this.earlier && (await this.#open(artifacts, this.earlier))) return;
    if (this.earlier) this.#startAgain('the workspace of the earlier operation is gone');
    await this.#open(artifacts);
  }

  /** @returns whether the earlier operation's workspace is now this one's */
  async #open(artifacts: ArtifactReference[], earlier?: EarlierWorkspace): Promise<boolean> {
    const { item, name } = this.record;
    const { inputs, createdAt } = this.shared;
    const workspace = {
      child: this.id,
      ...defined({ inputs, createdAt }),
      ...(item === undefined ? {} : { item }),
      secrets: this.pipeline.secrets,
      artifacts,
    };
    try {
      const opened = await openWorkspace(name, workspace, earlier);
      this.record.host = opened.host;
      clearHostDrop(opened.host);
      this.#isWorkspaceOpen = true;
      return opened.isTakenOver;
    } catch (error) {
      if (earlier && error instanceof ActivityFailure && error.cause instanceof TimeoutFailure) return false;
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
      await this.#ask(step, record);
      record.startedAt = new Date().toISOString();
    }
    if (!step.run) return { exitCode: 0, outputs: {} };
    return runStep(this, step, at + 1, record);
  }

  #keepOutputs(written: Record<string, string>, step: number): void {
    if (Object.keys(written).length > 0) this.record.outputs = { ...this.record.outputs, ...written };
    for (const key of Object.keys(written)) this.#writers.set(key, step);
  }

  /** Fails the job if an output doesn't fit the pipeline's schema. Finished steps stay finished: a resume repeats them only on request. */
  #checkOutputs(): void {
    if (this.failure) return;
    const problems = outputProblems(this.pipeline, this.id, this.record.outputs ?? {}, this.#writers);
    if (problems === undefined) return;
    this.#fail(`${this.record.name}: ${problems}`, BAD_OUTPUT);
  }

  #failStep(step: Step, at: number, record: StepRecord, error: ActivityFailure | ApplicationFailure): void {
    const root = rootFailure(error);
    const details = failureDetails(root);
    record.status = root.type === STEP_TIMED_OUT ? 'timed_out' : 'failed';
    if (details?.exitCode !== undefined) record.exitCode = details.exitCode;
    if (details) this.#keepOutputs(details.outputs, at + 1);
    if (step.continueOnError) return;
    const lastLines = details?.lastLines.length
      ? `\n\nLast lines of its log:\n${details.lastLines.join('\n')}`
      : '';
    this.#fail(`${this.record.name}: ${root.message}${lastLines}`, root.type);
  }

  #fail(message: string, type: string | null | undefined): void {
    if (this.failure) return;
    this.failure = { message, type: type ?? 'StepFailed' };
    this.record.statusMessage = message.split('\n', 1)[0]!;
  }

  async #saveArtifacts(): Promise<void> {
    if (this.job.artifacts.length === 0 || !this.#isWorkspaceOpen) return;
    delete this.record.unsavedArtifacts;
    try {
      this.#keepArtifacts(await saveArtifacts(this, this.failure !== undefined));
    } catch (error) {
      const details = unsavedDetails(error);
      if (!details) throw error;
      this.#keepArtifacts(details.saved);
      this.record.unsavedArtifacts = details.unsaved;
      // A job that failed earlier keeps that failure.
      if (!this.failure) throw error;
    }
  }

  #keepArtifacts(saved: ArtifactReference[]): void {
    this.record.artifacts = saved.map(({ child: _child, ...artifact }) => artifact);
  }

  /** After a cancel, timeout or failure of the operation: runs the `if: always` steps, then sets the final status. */
  async endUnfinished(reason: 'canceled' | 'timed_out' | 'failed'): Promise<void> {
    if (['completed', 'failed', 'skipped'].includes(this.record.status)) return;
    const how = reason === 'timed_out' ? 'timed_out' : 'canceled';
    this.isEnding = true;
    try {
      await this.#runLastSteps(how);
    } finally {
      // The cleanup's budget may have ended before the last steps.
      for (const record of this.record.steps) if (record.status === 'pending') record.status = how;
      this.record.status = how;
    }
  }

  async #runLastSteps(how: 'canceled' | 'timed_out'): Promise<void> {
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
        this.record.statusMessage = `artifacts were not saved: ${rootFailure(error).message}`;
      }
    }
  }
}
