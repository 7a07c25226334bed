/** Local activities of every worker, called by the workflow runtime. */
import { Context } from '@temporalio/activity';
import type { Progress } from '../operations/record.js';
import { STATE_MEMO, type AnswerProof, type StateMemo } from '../operations/wire.js';
import type { Signer } from '../platform/signer.js';

/** Requests the cancellation of the calling workflow. */
export async function requestCancel(reason?: string): Promise<void> {
  const { client, info } = Context.current();
  await client.workflowService.requestCancelWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId: info.workflowExecution!.workflowId },
    requestId: info.activityId + info.workflowExecution!.runId,
    ...(reason ? { reason } : {}),
  });
}

/** Makes the activity that verifies the signature of an answer. It returns a problem, or null. */
export function answerVerifier(signer: Signer): (proof: AnswerProof) => Promise<string | null> {
  return ({ operationId, signature }) => {
    const problem = signer.problemOf(['answer'], operationId, signature);
    if (problem === undefined) return Promise.resolve(null);
    return Promise.resolve(
      problem === 'other-key'
        ? `the answer was signed with another key than this worker's, ${signer.keyId}: give all servers and workers the same LONGHAUL_SECRET`
        : 'the signature of the answer is not valid',
    );
  };
}

/** Reads the progress in the memo of a closed child of the calling workflow; null if the memo has no progress. */
export async function childProgress(workflowId: string): Promise<Progress | null> {
  const { client, info } = Context.current();
  const { raw, memo } = await client.workflow.getHandle(workflowId).describe();
  const { parentExecution } = raw.workflowExecutionInfo ?? {};
  if (parentExecution?.workflowId !== info.workflowExecution!.workflowId) return null;
  return (memo?.[STATE_MEMO] as StateMemo | undefined)?.progress ?? null;
}
