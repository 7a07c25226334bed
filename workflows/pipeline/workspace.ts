/** Activities on a child's workspace: opening it, and saving artifacts from it. */
import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type * as activities from '../../activities/pipeline/index.js';
import {
  hostTaskQueue,
  placementTaskQueue,
  type ArtifactReference,
  type OpenedWorkspace,
  type OpenWorkspace,
  type UnsavedDetails,
} from '../../pipelines/run.js';
import { runOnHost } from './hosts.js';
import { HEARTBEAT_TIMEOUT_MS, type StepOwner } from './step.js';

/** How long to wait for the host with an earlier operation's workspace, in milliseconds. */
const TAKE_OVER_WAIT_MS = 60_000;

export interface EarlierWorkspace {
  workflowId: string;
  host: string;
}

/** Opens a workspace on any host. @param earlier the workspace to take over, on its own host */
export function openWorkspace(
  name: string,
  workspace: OpenWorkspace,
  earlier: EarlierWorkspace | undefined,
): Promise<OpenedWorkspace> {
  const { openPipelineWorkspace } = proxyActivities<typeof activities>({
    startToCloseTimeout: '1h',
    retry: { maximumAttempts: 5 },
    ...(earlier === undefined
      ? { taskQueue: placementTaskQueue(workflowInfo().taskQueue) }
      : {
          taskQueue: hostTaskQueue(workflowInfo().taskQueue, earlier.host),
          scheduleToStartTimeout: TAKE_OVER_WAIT_MS,
        }),
    summary: `${name}: workspace`,
  });
  return openPipelineWorkspace({
    ...workspace,
    ...(earlier === undefined ? {} : { takeOverFrom: earlier.workflowId }),
  });
}

/** @throws ActivityFailure with {@link UnsavedDetails} in its cause if some artifacts can't be saved */
export function saveArtifacts(child: StepOwner, hasFailed: boolean): Promise<ArtifactReference[]> {
  const about = { what: 'saving the artifacts', mayHaveBegun: false, isLast: child.isEnding || hasFailed };
  return runOnHost(child, about, (queueWaitMs) => {
    const { savePipelineArtifacts } = proxyActivities<typeof activities>({
      taskQueue: hostTaskQueue(workflowInfo().taskQueue, child.host),
      scheduleToStartTimeout: queueWaitMs,
      startToCloseTimeout: '1h',
      // If the host is lost, this also ends the wait after a cancel.
      heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
      // A cancel waits until copying has stopped.
      cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
      retry: { maximumAttempts: 5 },
      summary: `${child.record.name}: artifacts`,
    });
    const { id, job, pipeline } = child;
    return savePipelineArtifacts({ child: id, patterns: job.artifacts, secrets: pipeline.secrets });
  });
}

/** Artifacts that a failed activity saved nevertheless; undefined for another failure. */
export function unsavedDetails(error: unknown): UnsavedDetails | undefined {
  if (!(error instanceof ActivityFailure) || !(error.cause instanceof ApplicationFailure)) return undefined;
  const details = error.cause.details?.[0] as Partial<UnsavedDetails> | null | undefined;
  return details?.saved && details.unsaved ? (details as UnsavedDetails) : undefined;
}
