/** Checks whether open operations replay with a new bundle, before a worker runs it. */
import type { StorageChoice } from '../platform/storage/index.js';
import type { Client } from '@temporalio/client';
import { findWorkflow } from '../platform/find-workflow.js';
import type { Logger } from '../platform/log.js';
import { quote } from '../platform/visibility-query.js';
import type { WorkflowBundle } from './bundle.js';
import { describeProblem } from './replay/describe.js';
import { Replayer } from './replay/replayer.js';

/** Maximum number of open workflows replayed per type, the latest first. */
const LIMIT_PER_TYPE = 20;
/** Maximum number in total. */
const LIMIT = 100;
/** Time-out of one replay, in milliseconds; code that takes longer counts as replaying. */
const REPLAY_LIMIT_MS = 10_000;

/** A run of a workflow. */
export interface Execution {
  workflowId: string;
  runId: string;
}

type Mismatch = (execution: Execution) => Promise<string | undefined>;

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
    /** Where large values are stored. */
    private readonly storage: StorageChoice,
  ) {}

  /**
   * Replays a bounded number of open workflows.
   *
   * @param types.changed types whose code differs in the bundle
   * @param types.missing types that the bundle lacks: none of their workflows can continue with it
   */
  find(
    codePath: string,
    { changed, missing }: { changed: string[]; missing: string[] },
  ): Promise<ReplayFailure[]> {
    return this.#replaying(codePath, async (mismatch) => {
      const failures: ReplayFailure[] = [];
      let count = 0;
      for (const type of [...missing, ...changed]) {
        const query = `TaskQueue = ${quote(this.taskQueue)} AND WorkflowType = ${quote(type)} AND ExecutionStatus = 'Running'`;
        let countOfType = 0;
        for await (const execution of this.client().workflow.list({ query, pageSize: LIMIT_PER_TYPE })) {
          if (countOfType++ >= LIMIT_PER_TYPE || count++ >= LIMIT) break;
          const message = missing.includes(type) ? notExported(type) : await mismatch(execution);
          if (message !== undefined) failures.push({ type, workflowId: execution.workflowId, message });
        }
      }
      return failures;
    });
  }

  /** Replays a bounded number of open workflows that no version has taken yet. */
  findUnversioned({ codePath, exports }: WorkflowBundle): Promise<ReplayFailure[]> {
    const query = `TaskQueue = ${quote(this.taskQueue)} AND ExecutionStatus = 'Running' AND TemporalWorkerDeploymentVersion IS NULL`;
    return this.#replaying(codePath, async (mismatch) => {
      const failures: ReplayFailure[] = [];
      let count = 0;
      for await (const execution of this.client().workflow.list({ query, pageSize: LIMIT })) {
        if (count++ >= LIMIT) break;
        const { type, workflowId } = execution;
        const message = type in exports ? await mismatch(execution) : notExported(type);
        if (message !== undefined) failures.push({ type, workflowId, message });
      }
      return failures;
    });
  }

  /** Whether none of the workflows' histories differs from what the bundle's code does. */
  allReplay({ codePath }: WorkflowBundle, executions: readonly Execution[]): Promise<boolean> {
    return this.#replaying(codePath, async (mismatch) => {
      for (const execution of executions) if ((await mismatch(execution)) !== undefined) return false;
      return true;
    });
  }

  /** Whether any of the workflows is still open. */
  async areOpen(failures: readonly ReplayFailure[]): Promise<boolean> {
    for (const { workflowId } of failures) {
      const description = await findWorkflow(this.client(), workflowId);
      if (description?.status.name === 'RUNNING') return true;
    }
    return false;
  }

  /**
   * Runs `body` with a function that says where a workflow's replay differs from its history: undefined if it replays, or fails
   * in another way.
   */
  async #replaying<T>(codePath: string, body: (mismatch: Mismatch) => Promise<T>): Promise<T> {
    const replayer = new Replayer({ codePath, storage: this.storage });
    try {
      return await body(async ({ workflowId, runId }) => {
        const history = await this.client().workflow.getHandle(workflowId, runId).fetchHistory();
        const outcome = await replayer.replay(history, workflowId, REPLAY_LIMIT_MS);
        return outcome.verdict === 'differs' ? describeProblem(outcome) : undefined;
      });
    } finally {
      await replayer.close();
    }
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
