/** Would open operations replay with another bundle? Asked before a worker takes it up. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { findWorkflow } from '../platform/find-workflow.js';
import { quote } from '../platform/visibility-query.js';

/** How many open workflows of one type are replayed, the latest first. */
const LIMIT_PER_TYPE = 20;
/** How many in all. */
const LIMIT = 100;
/** How long one may take, in milliseconds; one that takes longer counts as replayed. */
const REPLAY_LIMIT_MS = 10_000;

/** An open workflow that the new code doesn't replay. */
export interface Misfit {
  type: string;
  workflowId: string;
  message: string;
}

export class ReplayCheck {
  constructor(
    private readonly client: Client,
    private readonly taskQueue: string,
    private readonly dataConverter: DataConverter,
  ) {}

  /**
   * Replays a bounded number of open workflows.
   *
   * @param types.changed types whose code is another in the bundle
   * @param types.missing types that it lacks: none of their workflows can go on with it
   */
  async find(
    codePath: string,
    { changed, missing }: { changed: string[]; missing: string[] },
  ): Promise<Misfit[]> {
    const misfits: Misfit[] = [];
    let count = 0;
    for (const type of [...missing, ...changed]) {
      const query = `TaskQueue = ${quote(this.taskQueue)} AND WorkflowType = ${quote(type)} AND ExecutionStatus = 'Running'`;
      let countOfType = 0;
      for await (const { workflowId, runId } of this.client.workflow.list({
        query,
        pageSize: LIMIT_PER_TYPE,
      })) {
        if (countOfType++ >= LIMIT_PER_TYPE || count++ >= LIMIT) break;
        const message = missing.includes(type)
          ? `no file in workflows/ exports "${type}"`
          : await this.#mismatch(codePath, workflowId, runId);
        if (message !== undefined) misfits.push({ type, workflowId, message });
      }
    }
    return misfits;
  }

  /** Is one of them still open? */
  async areOpen(misfits: readonly Misfit[]): Promise<boolean> {
    for (const { workflowId } of misfits) {
      const description = await findWorkflow(this.client, workflowId);
      if (description?.status.name === 'RUNNING') return true;
    }
    return false;
  }

  /** Why a workflow doesn't replay; undefined when it does, or fails in another way than by other steps. */
  async #mismatch(codePath: string, workflowId: string, runId: string): Promise<string | undefined> {
    const history = await this.client.workflow.getHandle(workflowId, runId).fetchHistory();
    // What hasn't run yet replays with any code.
    if (!history.events?.some((event) => event.workflowTaskCompletedEventAttributes)) return undefined;
    const options: ReplayWorkerOptions = { workflowBundle: { codePath }, dataConverter: this.dataConverter };
    // In the threads for workflows: code that never gives the thread back must not hold up this one.
    const inThreads = { ...options, debugMode: false } as ReplayWorkerOptions;
    const replay = Worker.runReplayHistory(inThreads, history, workflowId).catch((error: unknown) => error);
    const error = await Promise.race([replay, delay(REPLAY_LIMIT_MS, undefined, { ref: false })]);
    return error instanceof Error && error.name === 'DeterminismViolationError' ? error.message : undefined;
  }
}
