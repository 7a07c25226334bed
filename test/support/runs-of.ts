import type { Client, WorkflowHandle } from '@temporalio/client';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

/** The runs of a workflow that continues as new, latest first. */
export async function runsOf(
  { workflow }: Client,
  workflowId: string,
): Promise<{ runId: string; history: History }[]> {
  const runs: { runId: string; history: History }[] = [];
  let runId: string | undefined = (await workflow.getHandle(workflowId).describe()).runId;
  while (runId) {
    const history: History = await workflow.getHandle(workflowId, runId).fetchHistory();
    runs.push({ runId, history });
    const { continuedExecutionRunId } = history.events![0]!.workflowExecutionStartedEventAttributes!;
    runId = continuedExecutionRunId || undefined;
  }
  return runs;
}
