/** Lists workflows without their memos: the SDK's lists decode those, and end at one that can't be decoded. */
import type { Client } from '@temporalio/client';
import type proto from '@temporalio/proto';

export interface ListedWorkflow {
  workflowId: string;
  runId: string;
  type: string;
  info: proto.temporal.api.workflow.v1.IWorkflowExecutionInfo;
}

/** @param pageSize Default: Temporal's */
export async function* listWorkflows(
  client: Client,
  query: string,
  pageSize?: number,
): AsyncGenerator<ListedWorkflow> {
  const { namespace } = client.options;
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await client.workflowService.listWorkflowExecutions({
      ...{ namespace, query, pageSize, nextPageToken },
    });
    for (const info of page.executions ?? []) {
      const { workflowId, runId } = info.execution ?? {};
      yield { workflowId: workflowId ?? '', runId: runId ?? '', type: info.type?.name ?? '', info };
    }
    nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
  } while (nextPageToken);
}
