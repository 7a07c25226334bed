/** Asks Nexus services for their tools. Not every Temporal server lets clients call operations, so a short workflow asks. */
import { WorkflowFailedError } from '@temporalio/client';
import { TimeoutFailure } from '@temporalio/common';
import { LonghaulError } from '../../operations/errors.js';
import { temporalMessage } from '../../platform/temporal/grpc-errors.js';
import { NEXUS_TOOLS_WORKFLOW, type NexusService } from '../../operations/wire/nexus-call.js';
import type { TemporalClient } from '../temporal/client.js';

/** Longest that the workflow waits for Longhaul's worker and the service together. */
const LIMIT_MS = 30_000;
const ANSWER_SLACK_MS = 5_000;

/** The answer to `list_tools`. Servers that ask at the same time share a run. @throws LonghaulError `unavailable` with the reason */
export async function listServiceTools(temporal: TemporalClient, service: NexusService): Promise<unknown> {
  await temporal.whenConnected;
  const handle = await temporal.call((client) =>
    client.workflow.start(NEXUS_TOOLS_WORKFLOW, {
      workflowId: `${NEXUS_TOOLS_WORKFLOW}:${service.endpoint}:${service.service}`,
      args: [service],
      taskQueue: temporal.taskQueue,
      workflowExecutionTimeout: LIMIT_MS,
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: `Tools of ${service.service}`,
    }),
  );
  try {
    return await temporal.call(() => handle.result(), LIMIT_MS + ANSWER_SLACK_MS);
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    throw new LonghaulError('unavailable', reasonOf(error, service), { cause: error });
  }
}

function reasonOf(error: WorkflowFailedError, { endpoint }: NexusService): string {
  if (error.cause instanceof TimeoutFailure)
    return `no answer within ${LIMIT_MS / 1000} s: a worker of Longhaul, the endpoint "${endpoint}" and a worker of the service have to be there`;
  return temporalMessage(error);
}
