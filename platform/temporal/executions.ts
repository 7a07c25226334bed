/** Finds an operation's workflow executions in their histories. */
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { START_MEMO } from '../../operations/wire/index.js';
import { CALL_LIMIT_MS, findWorkflow } from './find-workflow.js';
import { GRPC, isGrpcError } from './grpc-errors.js';
import { listWorkflows } from './list-workflows.js';

const { WorkflowTaskFailedCause } = proto.temporal.api.enums.v1;

export interface Run {
  workflowId: string;
  runId: string;
}

export interface Executions {
  /** Child workflows' runs first, then the operation's own, the given one last. */
  runs: Run[];
  /** Workflow IDs that belong to this operation only. */
  workflowIds: string[];
}

/**
 * Finds all runs of a workflow ID, including those before a reset or a continue-as-new, and of its closed child workflows.
 * Excludes children that are operations, and abandoned children that are still open.
 *
 * @throws when Temporal can't be reached
 */
export async function executionsOf(client: Client, root: Run, except: string[]): Promise<Executions> {
  const runs = new Map<string, Run>();
  const workflowIds = new Set([root.workflowId]);
  const queue: Run[] = [root, ...(await listedRuns(client, root.workflowId))];
  for (let run = queue.shift(); run; run = queue.shift()) {
    if (runs.has(run.runId) || except.includes(run.runId)) continue;
    runs.set(run.runId, run);
    const { earlier, children } = await referencesOf(client, run);
    queue.push(...earlier);
    for (const child of children) {
      const current = await findWorkflow(client, child.workflowId);
      const isOwn = current?.raw.workflowExecutionInfo?.parentExecution?.runId === run.runId;
      if (current && isOwn && (!current.closeTime || current.memo?.[START_MEMO])) continue;
      // Another parent may have reused the child's workflow ID. Then only this run belongs to the operation.
      queue.push(current && isOwn ? { workflowId: child.workflowId, runId: current.runId } : child);
      if (isOwn || !current) workflowIds.add(child.workflowId);
    }
  }
  const rank = (run: Run) => (run.runId === root.runId ? 2 : run.workflowId === root.workflowId ? 1 : 0);
  return {
    runs: [...runs.values()].sort((a, b) => rank(a) - rank(b)),
    workflowIds: [...workflowIds],
  };
}

/** Visibility also lists runs that no later history names, e.g. after several resets of one run. */
async function listedRuns(client: Client, workflowId: string): Promise<Run[]> {
  return client.withDeadline(Date.now() + CALL_LIMIT_MS, async () => {
    const runs: Run[] = [];
    const query = `WorkflowId = ${JSON.stringify(workflowId)}`;
    for await (const { runId } of listWorkflows(client, query)) runs.push({ workflowId, runId });
    return runs;
  });
}

type Event = proto.temporal.api.history.v1.IHistoryEvent;

interface References {
  /** Earlier runs of the same workflow. */
  earlier: Run[];
  children: Run[];
}

/** The runs that a history names; empty for a deleted run. */
async function referencesOf(client: Client, run: Run): Promise<References> {
  const found: References = { earlier: [], children: [] };
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await historyPage(client, run, nextPageToken);
    const { earlier, children } = referencesIn(run, page?.history?.events ?? []);
    found.earlier.push(...earlier);
    found.children.push(...children);
    nextPageToken = page?.nextPageToken?.length ? page.nextPageToken : undefined;
  } while (nextPageToken);
  return found;
}

/** The runs that events name: earlier runs of the workflow, and its child workflows. */
export function referencesIn({ workflowId }: Run, events: readonly Event[]): References {
  const found: References = { earlier: [], children: [] };
  const addEarlier = (runId: string | null | undefined) => {
    if (runId) found.earlier.push({ workflowId, runId });
  };
  for (const event of events) {
    addEarlier(event.workflowExecutionStartedEventAttributes?.continuedExecutionRunId);
    const failed = event.workflowTaskFailedEventAttributes;
    if (failed?.cause === WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW)
      addEarlier(failed.baseRunId);
    const child = event.childWorkflowExecutionStartedEventAttributes?.workflowExecution;
    if (child?.workflowId && child.runId)
      found.children.push({ workflowId: child.workflowId, runId: child.runId });
  }
  return found;
}

async function historyPage(client: Client, execution: Run, nextPageToken: Uint8Array | undefined) {
  try {
    return await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
      client.workflowService.getWorkflowExecutionHistory({
        namespace: client.options.namespace,
        execution,
        nextPageToken,
      }),
    );
  } catch (error) {
    // Temporal refuses the ID of a missing run in either way.
    if (isGrpcError(error, GRPC.notFound, GRPC.invalidArgument)) return undefined;
    throw error;
  }
}
