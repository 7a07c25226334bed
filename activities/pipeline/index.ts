/** Activities of pipelines: a workspace on one host, the steps that run in it, and their artifacts. */
import { AsyncResource } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { humanDuration } from '../../operations/tool/budgets.js';
import type { ChildRecord } from '../../operations/record.js';
import { OPERATION_QUERY } from '../../operations/wire/index.js';
import { INPUTS_QUERY } from '../../pipelines/run.js';
import type {
  ArtifactReference,
  AwaitHost,
  HostPresence,
  OpenedWorkspace,
  OpenWorkspace,
  RunStep,
  SaveArtifacts,
  StepDone,
} from '../../pipelines/run.js';
import { readClosedState } from '../../platform/temporal/closed-state.js';
import { lastSeen } from '../../platform/temporal/host-presence.js';
import { saveArtifacts } from './artifacts.js';
import { ARTIFACT_MISSING } from '../../worker/steps/failures.js';
import { hostId } from '../../worker/steps/host.js';
import { masking } from '../../worker/steps/output/mask.js';
import { awaitStorage, type StorageWait } from '../runtime/await-storage.js';
import { runStep, type StopReason } from '../../worker/steps/run-step.js';
import { secretsOf } from '../../worker/steps/output/secrets.js';
import { openWorkspace } from './workspace.js';
import { currentContext } from '../runtime/context.js';
import { cancellationSignal, report } from '../runtime/index.js';

/** Interval between two looks for an absent host, in milliseconds. */
const HOST_LOOK_MS = 5_000;

/** Opens a child's workspace, and checks that its secrets are set. */
export async function openPipelineWorkspace(opening: OpenWorkspace): Promise<OpenedWorkspace> {
  const { settings, storage, operationId } = currentContext();
  const { client, info } = Context.current();
  const host = hostId(settings.home);
  secretsOf(opening.secrets, host);
  try {
    const workspace = {
      home: settings.home,
      storage,
      workflowId: operationId,
      namespace: info.namespace,
      queryInputs: () => client.workflow.getHandle(operationId).query(INPUTS_QUERY),
      signal: cancellationSignal(),
    };
    const isTakenOver = await awaitStorage(() => openWorkspace(opening, workspace), waiting());
    return { host, isTakenOver };
  } catch (error) {
    if ((error as { kind?: unknown }).kind !== 'not_found') throw error;
    throw ApplicationFailure.nonRetryable(
      `an artifact that the job needs is no longer stored: ${(error as Error).message}`,
      ARTIFACT_MISSING,
    );
  }
}

/** Runs one step, waits for it if it already runs, or returns its recorded outcome. */
export async function runPipelineStep(step: RunStep): Promise<StepDone> {
  const context = currentContext();
  const { settings, steps, token, operationId } = context;
  const { workflowExecution, namespace, activityId, attempt, base64TaskToken } = Context.current().info;
  const cancelled = cancellationSignal();
  const stop = new AbortController();
  const onCancelled = () => stop.abort(stopReasonOf(cancelled.reason));
  cancelled.addEventListener('abort', onCancelled);
  if (cancelled.aborted) onCancelled();
  try {
    return await runStep(step, {
      ...{ settings, steps, operationId, namespace, token, activityId, attempt },
      workflowId: workflowExecution!.workflowId,
      runId: workflowExecution!.runId,
      taskQueue: settings.taskQueue,
      taskToken: base64TaskToken,
      span: context.attempt,
      stop: stop.signal,
      keep: (kept) => (context.kept = kept),
      // The step may be followed from within another attempt.
      onLine: AsyncResource.bind((message: string) => report({ progress: 0, message })),
    });
  } finally {
    cancelled.removeEventListener('abort', onCancelled);
  }
}

export async function savePipelineArtifacts(saving: SaveArtifacts): Promise<ArtifactReference[]> {
  const { settings, storage, operationId } = currentContext();
  const context = {
    home: settings.home,
    storage,
    workflowId: operationId,
    masking: masking(Object.values(secretsOf(saving.secrets, hostId(settings.home)))),
    signal: cancellationSignal(),
  };
  return awaitStorage(() => saveArtifacts(saving, context), waiting());
}

/** Reads the children of an earlier operation's page, from storage or memo if its workflow left them there, else by a query. */
export async function readPipelinePage(pageId: string): Promise<ChildRecord[]> {
  const handle = Context.current().client.workflow.getHandle(pageId);
  const closed = await readClosedState(await handle.describe(), currentContext().storage);
  return closed?.children ?? (await handle.query(OPERATION_QUERY)).children ?? [];
}

/**
 * Waits until a worker of a host polls. Gives up after `limitMs`, or once the host has been absent for this worker's
 * `hostAbsenceMinutes`. Runs on any host.
 *
 * @throws ApplicationFailure, retryable, when this worker stops: another one continues the wait
 */
export async function awaitPipelineHost({ host, since, limitMs }: AwaitHost): Promise<HostPresence> {
  const { settings, stopping } = currentContext();
  const { client, info } = Context.current();
  const signal = cancellationSignal();
  const beganAt = new Date(since);
  const offsetMs = info.currentAttemptScheduledTimestampMs - performance.now();
  // Temporal's time, like the host's last poll; this machine's clock may differ.
  const sinceMs = (date: Date) => offsetMs + performance.now() - date.getTime();
  for (;;) {
    if (stopping.aborted)
      throw ApplicationFailure.create({
        message: 'the worker stops',
        category: ApplicationFailureCategory.BENIGN,
      });
    const seen = await lastSeen(client, settings.taskQueue, host);
    const lastSeenAt = (seen ?? beganAt).toISOString();
    if (seen && seen > beganAt) return { isBack: true, lastSeenAt };
    const absentMs = sinceMs(seen ?? beganAt);
    const isLost =
      limitMs === undefined ? absentMs >= settings.hostAbsenceMinutes * 60_000 : sinceMs(beganAt) >= limitMs;
    if (isLost) return { isBack: false, lastSeenAt };
    const message = `host ${host} has not answered for ${humanDuration(Math.max(1, absentMs / 1000))}`;
    report({ progress: 0, message });
    await delay(HOST_LOOK_MS, undefined, { signal });
  }
}

function waiting(): StorageWait {
  return { signal: cancellationSignal(), onWait: (message) => report({ progress: 0, message }) };
}

/** Temporal gives the reason of a cancellation in the failure's message. */
function stopReasonOf(reason: unknown): StopReason {
  const message = reason instanceof Error ? reason.message : String(reason);
  if (message === 'WORKER_SHUTDOWN') return 'shutdown';
  return message === 'CANCELLED' ? 'canceled' : 'given_up';
}
