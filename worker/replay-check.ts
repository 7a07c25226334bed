/** Checks whether open operations replay with a new bundle, before a worker runs it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { findWorkflow } from '../platform/find-workflow.js';
import type { Logger } from '../platform/log.js';
import { quote } from '../platform/visibility-query.js';
import type { WorkflowBundle } from './bundle.js';

/** Maximum number of open workflows replayed per type, the latest first. */
const LIMIT_PER_TYPE = 20;
/** Maximum number in total. */
const LIMIT = 100;
/** Time-out of one replay, in milliseconds; one that takes longer counts as replayed. */
const REPLAY_LIMIT_MS = 10_000;

/** An open workflow that the new code doesn't replay. */
export interface ReplayFailure {
  type: string;
  workflowId: string;
  message: string;
}

export class ReplayCheck {
  constructor(
    /** The client of the connection as it is now. */
    private readonly client: () => Client,
    private readonly taskQueue: string,
    private readonly dataConverter: DataConverter,
  ) {}

  /**
   * Replays a bounded number of open workflows.
   *
   * @param types.changed types whose code differs in the bundle
   * @param types.missing types that the bundle lacks: none of their workflows can continue with it
   */
  async find(
    codePath: string,
    { changed, missing }: { changed: string[]; missing: string[] },
  ): Promise<ReplayFailure[]> {
    const failures: ReplayFailure[] = [];
    let count = 0;
    for (const type of [...missing, ...changed]) {
      const query = `TaskQueue = ${quote(this.taskQueue)} AND WorkflowType = ${quote(type)} AND ExecutionStatus = 'Running'`;
      let countOfType = 0;
      for await (const { workflowId, runId } of this.client().workflow.list({
        query,
        pageSize: LIMIT_PER_TYPE,
      })) {
        if (countOfType++ >= LIMIT_PER_TYPE || count++ >= LIMIT) break;
        const message = missing.includes(type)
          ? notExported(type)
          : await this.mismatch(codePath, workflowId, runId);
        if (message !== undefined) failures.push({ type, workflowId, message });
      }
    }
    return failures;
  }

  /** Replays a bounded number of open workflows that no version has taken yet. */
  async findUnversioned({ codePath, exports }: WorkflowBundle): Promise<ReplayFailure[]> {
    const query = `TaskQueue = ${quote(this.taskQueue)} AND ExecutionStatus = 'Running' AND TemporalWorkerDeploymentVersion IS NULL`;
    const failures: ReplayFailure[] = [];
    let count = 0;
    for await (const { type, workflowId, runId } of this.client().workflow.list({ query, pageSize: LIMIT })) {
      if (count++ >= LIMIT) break;
      const message = type in exports ? await this.mismatch(codePath, workflowId, runId) : notExported(type);
      if (message !== undefined) failures.push({ type, workflowId, message });
    }
    return failures;
  }

  /** Whether any of the workflows is still open. */
  async areOpen(failures: readonly ReplayFailure[]): Promise<boolean> {
    for (const { workflowId } of failures) {
      const description = await findWorkflow(this.client(), workflowId);
      if (description?.status.name === 'RUNNING') return true;
    }
    return false;
  }

  /** The nondeterminism error of a replay; undefined if the workflow replays or fails with another error. */
  async mismatch(codePath: string, workflowId: string, runId: string): Promise<string | undefined> {
    const history = await this.client().workflow.getHandle(workflowId, runId).fetchHistory();
    // A workflow that hasn't run yet replays with any code.
    if (!history.events?.some((event) => event.workflowTaskCompletedEventAttributes)) return undefined;
    const options: ReplayWorkerOptions = { workflowBundle: { codePath }, dataConverter: this.dataConverter };
    // In the workflow threads: code that blocks its thread forever must not block this one.
    const inThreads = { ...options, debugMode: false } as ReplayWorkerOptions;
    const replay = Worker.runReplayHistory(inThreads, history, workflowId).catch((error: unknown) => error);
    const error = await Promise.race([replay, delay(REPLAY_LIMIT_MS, undefined, { ref: false })]);
    return error instanceof Error && error.name === 'DeterminismViolationError' ? error.message : undefined;
  }
}

/** Logs open workflows of before versioning that a bundle doesn't replay: the current version takes them. */
export async function logUnversionedMismatches(
  replays: ReplayCheck,
  bundle: WorkflowBundle,
  logger: Logger,
): Promise<void> {
  for (const { type, workflowId, message } of await replays.findUnversioned(bundle))
    logger.error(
      { tool: type, token: workflowId },
      `workflow "${type}": the code of build ${bundle.buildId} doesn't replay the open operation ${workflowId}, which began before ` +
        `worker versioning: ${message}. It waits until the code replays it (patched())`,
    );
}

function notExported(type: string): string {
  return `no file in workflows/ exports "${type}"`;
}
