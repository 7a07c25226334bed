/**
 * Moves open workflows to another build, whose code replays them: a changed workflow is then taken up by its open operations, and
 * the build that they began on needs no worker.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { openOn, type DeploymentVersion } from '../platform/deployments.js';
import { GRPC, isGrpcError } from '../platform/grpc-errors.js';
import type { WorkflowBundle } from './bundle.js';
import type { Execution, ReplayCheck } from './replay-check.js';

const { PinnedOverrideBehavior } = proto.temporal.api.workflow.v1.VersioningOverride;
const { PENDING_WORKFLOW_TASK_STATE_STARTED } = proto.temporal.api.enums.v1.PendingWorkflowTaskState;

/** Deadline of a call, in milliseconds. */
const CALL_LIMIT_MS = 10_000;
/** How long a worker may have a workflow task of a moved workflow, and the interval of looks at it, in milliseconds. */
const TASK_LIMIT_MS = 20_000;
const TASK_POLL_MS = 250;
/** Maximum number of open workflows of a type that are moved; those of types with more stay. */
const LIMIT_PER_TYPE = 20;
/** Maximum number of open workflows of a build that are looked at; if there are more, all stay. */
const LIMIT = 100;

/** Which of a build's open workflows move to another one. */
export interface MovePlan {
  moved: (Execution & { isReplayed: boolean })[];
  /** Types of those that stay, with the number of each. */
  staying: Map<string, number>;
}

export class Moves {
  constructor(
    private readonly client: () => Client,
    private readonly replays: ReplayCheck,
    private readonly deploymentName: string,
  ) {}

  /** Replays a build's open workflows with another bundle. All of a type move, or none. */
  async plan(from: WorkflowBundle, to: WorkflowBundle): Promise<MovePlan> {
    const byType = new Map<string, Execution[]>();
    let count = 0;
    const query = openOn(this.#version(from));
    for await (const { type, workflowId, runId } of this.client().workflow.list({ query, pageSize: LIMIT })) {
      byType.set(type, [...(byType.get(type) ?? []), { workflowId, runId }]);
      if (++count > LIMIT) break;
    }
    const plan: MovePlan = { moved: [], staying: new Map() };
    for (const [type, executions] of byType) {
      const isUnchanged = from.runtimeDigest === to.runtimeDigest && from.exports[type] === to.exports[type];
      const isMoved =
        count <= LIMIT &&
        executions.length <= LIMIT_PER_TYPE &&
        type in to.exports &&
        (isUnchanged || (await this.replays.allReplay(to, executions)));
      if (isMoved) plan.moved.push(...executions.map((one) => ({ ...one, isReplayed: !isUnchanged })));
      else plan.staying.set(type, executions.length);
    }
    return plan;
  }

  /**
   * Moves the workflows of a plan; those that no longer replay, because they continued meanwhile, go back. A workflow task that the
   * earlier build has at that moment is awaited: its commands come from that build's code, and the next task goes to the new one.
   */
  async carryOut({ moved }: MovePlan, from: WorkflowBundle, to: WorkflowBundle): Promise<void> {
    for (const { isReplayed, ...execution } of moved) {
      if (!(await this.#pin(execution, to))) continue;
      if (!isReplayed) continue;
      const isSettled = await this.#endsTask(execution);
      if (!isSettled || !(await this.replays.allReplay(to, [execution]))) await this.#pin(execution, from);
    }
  }

  /** Waits until no worker has a workflow task of a run. @returns false if one still has after the limit */
  async #endsTask({ workflowId, runId }: Execution): Promise<boolean> {
    const handle = this.client().workflow.getHandle(workflowId, runId);
    for (let waitedMs = 0; waitedMs < TASK_LIMIT_MS; waitedMs += TASK_POLL_MS) {
      const { raw } = await handle.describe();
      if (raw.pendingWorkflowTask?.state !== PENDING_WORKFLOW_TASK_STATE_STARTED) return true;
      await delay(TASK_POLL_MS);
    }
    return false;
  }

  /** False if the workflow has ended. */
  async #pin(workflowExecution: Execution, bundle: WorkflowBundle): Promise<boolean> {
    const client = this.client();
    try {
      await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
        client.workflowService.updateWorkflowExecutionOptions({
          namespace: client.options.namespace,
          workflowExecution,
          workflowExecutionOptions: {
            versioningOverride: {
              pinned: {
                behavior: PinnedOverrideBehavior.PINNED_OVERRIDE_BEHAVIOR_PINNED,
                version: this.#version(bundle),
              },
            },
          },
          updateMask: { paths: ['versioning_override'] },
        }),
      );
      return true;
    } catch (error) {
      if (isGrpcError(error, GRPC.notFound)) return false;
      throw error;
    }
  }

  #version({ buildId }: WorkflowBundle): DeploymentVersion {
    return { deploymentName: this.deploymentName, buildId };
  }
}
