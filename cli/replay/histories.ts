/** The histories that `longhaul replay` replays: an operation's, a query's, or a file's. Reads one at a time. */
import { Client, WorkflowNotFoundError, type WorkflowExecutionDescription } from '@temporalio/client';
import type { History } from '@temporalio/worker';
import { adoptedMemo } from '../../engine/external/adopt.js';
import type { RunTokens, SealedRun } from '../../engine/external/run-tokens.js';
import { startMemoOf } from '../../engine/read/start-memo.js';
import { undefinedIf } from '../../operations/errors.js';
import { findWorkflow } from '../../platform/temporal/find-workflow.js';
import { listWorkflows } from '../../platform/temporal/list-workflows.js';
import { referencesIn, type Run } from '../../platform/temporal/executions.js';

export interface SelectedHistory {
  workflowId: string;
  runId: string;
  history: History;
}

/** Where an operation's workflow is. */
export interface FoundOperation {
  client: Client;
  workflowId: string;
}

/** Finds an operation by the token that one of these principals has for it, sealed ones included. */
export async function findOperation(
  connected: Client,
  token: string,
  principals: readonly string[],
  tokens: RunTokens,
): Promise<FoundOperation | undefined> {
  for (const principal of principals) {
    const located = await attempt(() => tokens.locate(principal, token));
    if (!located) continue;
    const { workflowId, namespace, run } = located;
    const client = namespace === undefined ? connected : new Client({ ...connected.options, namespace });
    const found = await findWorkflow(client, workflowId);
    if (found && (!run || (await isRunOf(found, principal, run)))) return { client, workflowId };
  }
  return undefined;
}

/** Whether a sealed token stands for a workflow: the ID may have passed to another execution. */
async function isRunOf(
  found: WorkflowExecutionDescription,
  principal: string,
  run: SealedRun,
): Promise<boolean> {
  const isAdopted = run.firstRunId !== undefined;
  const memo = await attempt(() =>
    isAdopted ? adoptedMemo(found, principal, run, 0) : startMemoOf(found, principal, run),
  );
  return memo !== undefined;
}

async function attempt<T>(work: () => T): Promise<T | undefined> {
  return Promise.resolve().then(work).catch(undefinedIf('not_found'));
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
