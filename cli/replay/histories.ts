/** The histories that `longhaul replay` replays: an operation's, a query's, or a file's. Reads one at a time. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { History } from '@temporalio/worker';
import { findWorkflow } from '../../platform/temporal/find-workflow.js';
import { listWorkflows } from '../../platform/temporal/list-workflows.js';
import { referencesIn, type Run } from '../../platform/temporal/executions.js';

export interface SelectedHistory {
  workflowId: string;
  runId: string;
  history: History;
}

/** A workflow's latest run, then child workflows and continued runs, recursively. @throws WorkflowNotFoundError if unknown */
export async function* historiesOf(client: Client, workflowId: string): AsyncGenerator<SelectedHistory> {
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  const known = new Set<string>();
  const queue: Run[] = [{ workflowId, runId }];
  for (let run = queue.shift(); run; run = queue.shift()) {
    if (known.has(run.runId)) continue;
    known.add(run.runId);
    const history = await fetchHistory(client, run);
    if (!history) continue;
    yield { ...run, history };
    const { earlier, children } = referencesIn(run, history.events ?? []);
    for (const child of children) {
      const current = await findWorkflow(client, child.workflowId);
      const isOwn = current?.raw.workflowExecutionInfo?.parentExecution?.runId === run.runId;
      queue.push(current && isOwn ? { workflowId: child.workflowId, runId: current.runId } : child);
    }
    queue.push(...earlier);
  }
}

/** Histories of the workflows that a visibility query finds, latest first. */
export async function* historiesOfQuery(client: Client, query: string): AsyncGenerator<SelectedHistory> {
  for await (const { workflowId, runId } of listWorkflows(client, query)) {
    const history = await fetchHistory(client, { workflowId, runId });
    if (history) yield { workflowId, runId, history };
  }
}

/** @returns undefined for a run that was deleted meanwhile */
async function fetchHistory(client: Client, { workflowId, runId }: Run): Promise<History | undefined> {
  try {
    return await client.workflow.getHandle(workflowId, runId).fetchHistory();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
