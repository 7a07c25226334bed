/** Checks whether open operations replay with a new bundle, before a worker runs it. */
import type { Client } from '@temporalio/client';
import { findWorkflow } from '../platform/find-workflow.js';
import { quote } from '../platform/visibility-query.js';
import { describeProblem } from './replay/describe.js';
import { Replayer } from './replay/replayer.js';

/** Maximum number of open workflows replayed per type, the latest first. */
const LIMIT_PER_TYPE = 20;
/** Maximum number in total. */
const LIMIT = 100;
/** Time-out of one replay, in milliseconds; code that takes longer counts as replaying. */
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
    /** Home with the storage of large values. */
    private readonly home: string,
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
    const replayer = new Replayer({ codePath, home: this.home });
    try {
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
            ? `no file in workflows/ exports "${type}"`
            : await this.#mismatch(replayer, workflowId, runId);
          if (message !== undefined) failures.push({ type, workflowId, message });
        }
      }
    } finally {
      await replayer.close();
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

  /** Where a replay differs from history; undefined if the workflow replays or fails in another way. */
  async #mismatch(replayer: Replayer, workflowId: string, runId: string): Promise<string | undefined> {
    const history = await this.client().workflow.getHandle(workflowId, runId).fetchHistory();
    const outcome = await replayer.replay(history, workflowId, REPLAY_LIMIT_MS);
    return outcome.verdict === 'differs' ? describeProblem(outcome) : undefined;
  }
}
