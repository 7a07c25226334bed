/** Creates workflows whose code can't end the worker, and fails the tasks of quarantined ones before their code runs. */
import { defaultPayloadConverter } from '@temporalio/common';
import type { WorkflowInfo } from '@temporalio/workflow';
import {
  type Activation,
  type Completion,
  type Workflow,
  type WorkflowCreateOptions,
  type WorkflowThread,
  replaceWorkflowCreator,
} from '../../../platform/temporal/internal/workflow-threads.js';
import { Evaluator, FatalError, type EvaluatedRun } from './evaluator.js';
import type { OperationLoggers } from '../../logs/operation-loggers.js';
import type { Logger } from '../../../platform/observe/log.js';
import type { Settings } from '../../../platform/settings/index.js';
import type { Storage } from '../../../platform/storage/index.js';
import { CrashRecord, Quarantine } from './quarantine.js';

/** Length of a history whose run no worker has evaluated yet. */
const NEW_HISTORY = 3;
const REPLACED =
  "the worker's thread of workflows was replaced; this workflow is replayed on the new one, and loses nothing";

interface CreatorOptions {
  /** A workflow's file, and the digest of its code. */
  codeOf: (workflow: string) => { file: string | undefined; code: string };
  /** Writes a line to the operation's log and the console. */
  warn: (info: WorkflowInfo, message: string) => void;
}

export interface GuardOptions extends Pick<CreatorOptions, 'codeOf'> {
  settings: Pick<Settings, 'home'>;
  storage: Storage;
  logger: Logger;
  loggers: OperationLoggers;
}

/** Has the Workers of this process evaluate workflows on threads that their code may end. */
export function guardWorkflows({ settings, storage, logger, loggers, codeOf }: GuardOptions): void {
  const quarantine = new Quarantine(storage, logger);
  const { warn } = loggers.workflowSinks().defaultWorkerLogger;
  const options: CreatorOptions = {
    codeOf,
    warn: (info, message) => void warn.fn(info, message, { sdkComponent: 'workflow' }),
  };
  replaceWorkflowCreator(async (start) => {
    const evaluator = new Evaluator(start, new CrashRecord(settings.home), quarantine);
    await evaluator.ready();
    return {
      createWorkflow: async (create) => new GuardedWorkflow(create, evaluator, options),
      destroy: () => evaluator.destroy(),
    };
  });
}

class GuardedWorkflow implements Workflow {
  readonly #run: EvaluatedRun;
  #memo: WorkflowInfo['memo'];
  #created: { workflow: Workflow; on: WorkflowThread } | undefined;

  constructor(
    private readonly create: WorkflowCreateOptions,
    private readonly evaluator: Evaluator,
    private readonly options: CreatorOptions,
  ) {
    const { runId, workflowType } = create.info;
    const { file, code } = options.codeOf(workflowType);
    this.#run = { runId, code, about: { workflow: workflowType, file } };
  }

  async activate(activation: Activation): Promise<Completion> {
    try {
      if (!this.#created) await this.#assertFree(activation);
      return await this.evaluator.evaluate(this.#run, (thread) => this.#activate(thread, activation));
    } catch (error) {
      if (!(error instanceof FatalError)) throw error;
      const { message } = error;
      this.options.warn({ ...this.create.info, memo: this.#memo }, message);
      return { runId: this.#run.runId, failed: { failure: { message, source: 'longhaul' } } };
    }
  }

  async getAndResetSinkCalls(): ReturnType<Workflow['getAndResetSinkCalls']> {
    try {
      return (await this.#created?.workflow.getAndResetSinkCalls()) ?? [];
    } catch (error) {
      if (this.#created?.on.endedBy === undefined) throw error;
      return [];
    }
  }

  async dispose(): Promise<void> {
    await this.#created?.workflow.dispose();
  }

  async #activate(thread: WorkflowThread, activation: Activation): Promise<Completion> {
    this.#created ??= { workflow: await thread.createWorkflow(this.create), on: thread };
    if (this.#created.on !== thread) throw new Error(REPLACED);
    return this.#created.workflow.activate(activation);
  }

  /** @throws FatalError for a quarantined run */
  async #assertFree({ jobs }: Activation): Promise<void> {
    const { memo } = jobs?.find((job) => job.initializeWorkflow)?.initializeWorkflow ?? {};
    this.#memo = Object.fromEntries(
      Object.entries(memo?.fields ?? {}).map(([key, payload]) => [
        key,
        defaultPayloadConverter.fromPayload(payload),
      ]),
    );
    if (this.create.info.historyLength <= NEW_HISTORY) return;
    const reason = await this.evaluator.quarantine.reasonFor(this.#run);
    if (reason !== undefined) throw new FatalError(reason);
  }
}
