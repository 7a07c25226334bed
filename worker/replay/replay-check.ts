/** Checks whether open operations replay with a new bundle before a worker runs it. */
import type { Client } from '@temporalio/client';
import { findWorkflow, isOpen } from '../../platform/temporal/find-workflow.js';
import { listWorkflows, type ListedWorkflow } from '../../platform/temporal/list-workflows.js';
import type { Logger } from '../../platform/observe/log.js';
import type { StorageChoice } from '../../platform/storage/index.js';
import { openRuns, quote } from '../../platform/temporal/visibility-query.js';
import type { WorkflowBundle } from '../versions/bundle.js';
import { describeProblem } from './describe.js';
import { Replayer } from './replayer.js';

/** Maximum number of open workflows replayed per type, the latest first. */
const LIMIT_PER_TYPE = 20;
/** Maximum number in total. */
const LIMIT = 100;
/** Timeout of one replay, in milliseconds. Code that takes longer counts as replaying. */
const REPLAY_LIMIT_MS = 10_000;
/** No further replay starts after this time, in milliseconds: operations wait for the check at a worker's start. */
const CHECK_LIMIT_MS = 30_000;

type Mismatch = (execution: ListedWorkflow) => Promise<string | undefined>;

export interface ReplayFailure {
  type: string;
  /** Workflow ID of its operation. */
  token: string;
  message: string;
}

export class ReplayCheck {
  constructor(
    private readonly client: () => Client,
    private readonly taskQueue: string,
    private readonly storage: StorageChoice,
    private readonly logger: Logger,
  ) {}

  /** Replays a bounded number of open workflows. @param types.missing types that the bundle lacks, so their workflows can't continue */
  find(
    codePath: string,
    { changed, missing }: { changed: string[]; missing: string[] },
  ): Promise<ReplayFailure[]> {
    const deadline = performance.now() + CHECK_LIMIT_MS;
    return this.#replaying(codePath, async (mismatch) => {
      const failures: ReplayFailure[] = [];
      const open = await openRuns(this.client());
      let count = 0;
      for (const type of [...missing, ...changed]) {
        const query = `TaskQueue = ${quote(this.taskQueue)} AND WorkflowType = ${quote(type)} AND ${open}`;
        let countOfType = 0;
        for await (const execution of listWorkflows(this.client(), query, LIMIT_PER_TYPE)) {
          if (performance.now() > deadline) {
            this.logger.warn(
              { replayed: count },
              `the replay check of open operations ended after ${CHECK_LIMIT_MS / 1000} s; some were not replayed with the new code`,
            );
            return failures;
          }
          if (countOfType++ >= LIMIT_PER_TYPE || count++ >= LIMIT) break;
          const message = missing.includes(type) ? notExported(type) : await mismatch(execution);
          if (message !== undefined) failures.push(failureOf(execution, message));
        }
      }
      return failures;
    });
  }

  /** Replays a bounded number of open workflows that no version has taken yet. */
  async findUnversioned({ codePath, exports }: WorkflowBundle): Promise<ReplayFailure[]> {
    const open = await openRuns(this.client());
    const query = `TaskQueue = ${quote(this.taskQueue)} AND ${open} AND TemporalWorkerDeploymentVersion IS NULL`;
    return this.#replaying(codePath, async (mismatch) => {
      const failures: ReplayFailure[] = [];
      let count = 0;
      for await (const execution of listWorkflows(this.client(), query, LIMIT)) {
        if (count++ >= LIMIT) break;
        const message = execution.type in exports ? await mismatch(execution) : notExported(execution.type);
        if (message !== undefined) failures.push(failureOf(execution, message));
      }
      return failures;
    });
  }

  async areOpen(tokens: readonly string[]): Promise<boolean> {
    for (const token of tokens) {
      const description = await findWorkflow(this.client(), token);
      if (description && isOpen(description)) return true;
    }
    return false;
  }

  /** Gives `body` a function that describes where a replay differs; undefined if a workflow replays or fails in another way. */
  async #replaying<T>(codePath: string, body: (mismatch: Mismatch) => Promise<T>): Promise<T> {
    const replayer = new Replayer({ codePath, storage: this.storage });
    try {
      return await body(async ({ workflowId, runId }) => {
        const history = await this.client().workflow.getHandle(workflowId, runId).fetchHistory();
        const outcome = await replayer.replay(history, workflowId, REPLAY_LIMIT_MS);
        if (outcome.verdict === 'timed_out')
          this.logger.warn(
            { token: workflowId },
            `the replay of an open operation with the new code took over ${REPLAY_LIMIT_MS / 1000} s; it counts as replaying`,
          );
        return outcome.verdict === 'differs' ? describeProblem(outcome) : undefined;
      });
    } finally {
      await replayer.close();
    }
  }
}

/** Logs open workflows from before versioning that a bundle doesn't replay: the current version takes them. */
export async function logUnversionedMismatches(
  replays: ReplayCheck,
  bundle: WorkflowBundle,
  logger: Logger,
): Promise<void> {
  for (const { type, token, message } of await replays.findUnversioned(bundle))
    logger.error(
      { tool: type, token },
      `workflow "${type}": the code of build ${bundle.buildId} doesn't replay the open operation ${token}, which began before ` +
        `worker versioning: ${message}. It waits until the code replays it (patched())`,
    );
}

function failureOf({ type, workflowId, info }: ListedWorkflow, message: string): ReplayFailure {
  return { type, token: info.rootExecution?.workflowId || workflowId, message };
}

function notExported(type: string): string {
  return `no file in workflows/ exports "${type}"`;
}
