/** Checks whether open operations replay with a new bundle before a worker runs it. */
import type { Client } from '@temporalio/client';
import { findWorkflow, isOpen } from '../../platform/temporal/find-workflow.js';
import { listWorkflows, type ListedWorkflow } from '../../platform/temporal/list-workflows.js';
import type { Logger } from '../../platform/observe/log.js';
import type { StorageChoice } from '../../platform/storage/index.js';
import { openRuns, quote } from '../../platform/temporal/visibility-query.js';
import type { WorkflowBundle } from '../versions/bundle.js';
import { describeProblem } from './explain.js';
import { Replayer } from './replayer.js';

/** Maximum number of open workflows replayed per type, the latest first. */
const LIMIT_PER_TYPE = 20;
/** Maximum number in total. */
const LIMIT = 100;
/** Timeout of one replay, in milliseconds. Code that takes longer counts as replaying. */
const REPLAY_LIMIT_MS = 10_000;
/** No further replay starts after this time, in milliseconds: operations wait for the check at a worker's start. */
const CHECK_LIMIT_MS = 30_000;

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
  async find(
    codePath: string,
    { changed, missing }: { changed: string[]; missing: string[] },
  ): Promise<ReplayFailure[]> {
    const open = await this.#openRuns();
    const queries = [...missing, ...changed].map((type) => `${open} AND WorkflowType = ${quote(type)}`);
    return this.#replay(codePath, queries, LIMIT_PER_TYPE, (type) => !missing.includes(type));
  }

  /** Replays a bounded number of open workflows that no version has taken yet. */
  async findUnversioned({ codePath, exports }: WorkflowBundle): Promise<ReplayFailure[]> {
    const query = `${await this.#openRuns()} AND TemporalWorkerDeploymentVersion IS NULL`;
    return this.#replay(codePath, [query], LIMIT, (type) => type in exports);
  }

  async #openRuns(): Promise<string> {
    return `TaskQueue = ${quote(this.taskQueue)} AND ${await openRuns(this.client())}`;
  }

  /** Replays the workflows that queries find. @param most workflows of each query @param isExported whether the bundle has a type */
  async #replay(
    codePath: string,
    queries: readonly string[],
    most: number,
    isExported: (type: string) => boolean,
  ): Promise<ReplayFailure[]> {
    const deadline = performance.now() + CHECK_LIMIT_MS;
    const replayer = new Replayer({ codePath, storage: this.storage });
    const failures: ReplayFailure[] = [];
    let count = 0;
    try {
      for (const query of queries) {
        let countOfQuery = 0;
        for await (const execution of listWorkflows(this.client(), query, most)) {
          if (performance.now() > deadline) {
            this.logger.warn(
              { replayed: count },
              `the replay check of open operations ended after ${CHECK_LIMIT_MS / 1000} s; some were not replayed with the new code`,
            );
            return failures;
          }
          if (countOfQuery++ >= most || count++ >= LIMIT) break;
          const { type, workflowId, info } = execution;
          const message = isExported(type)
            ? await this.#mismatch(replayer, execution)
            : `no file in workflows/ exports "${type}"`;
          if (message !== undefined)
            failures.push({ type, token: info.rootExecution?.workflowId || workflowId, message });
        }
      }
      return failures;
    } finally {
      await replayer.close();
    }
  }

  /** Describes where a replay differs; undefined if the workflow replays or fails in another way. */
  async #mismatch(replayer: Replayer, { workflowId, runId }: ListedWorkflow): Promise<string | undefined> {
    const history = await this.client().workflow.getHandle(workflowId, runId).fetchHistory();
    const outcome = await replayer.replay(history, workflowId, REPLAY_LIMIT_MS);
    if (outcome.verdict === 'timed_out')
      this.logger.warn(
        { token: workflowId },
        `the replay of an open operation with the new code took over ${REPLAY_LIMIT_MS / 1000} s; it counts as replaying`,
      );
    return outcome.verdict === 'differs' ? describeProblem(outcome) : undefined;
  }

  async areOpen(tokens: readonly string[]): Promise<boolean> {
    for (const token of tokens) {
      const description = await findWorkflow(this.client(), token);
      if (description && isOpen(description)) return true;
    }
    return false;
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
