/**
 * Reports activities' outcomes by task token. The SDK retries its own report for only 10 seconds. After a longer outage, a
 * finished activity would wait for its heartbeat timeout and run again.
 */
import { once, setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import { ensureApplicationFailure, type LoadedDataConverter } from '@temporalio/common';
import {
  encodeErrorToFailure,
  encodeToPayloads,
  extstoreStoreOptions,
  visit,
  walkRespondActivityTaskCompletedRequest,
  walkRespondActivityTaskFailedRequest,
} from '../../platform/temporal/internal/payloads.js';
import type { ActivityOutcome, EndedActivity, ReportOutcome } from '../../activities/runtime/context.js';
import type { TemporalConnection } from '../../platform/temporal/connect.js';
import { GRPC, isGrpcError, isThrottled, temporalMessage } from '../../platform/temporal/grpc-errors.js';
import { withJitter } from '../../platform/jitter.js';
import type { Logger } from '../../platform/observe/log.js';
import { isStorageWait, storageErrorIn } from '../../platform/storage/index.js';

const ATTEMPT_LIMIT_MS = 10_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 2_000;
/** Time left for open reports once the drain ends, in milliseconds. */
const LAST_REPORTS_MS = 3_000;

type WorkflowService = TemporalConnection['current']['workflowService'];

export interface ReportOptions {
  temporal: TemporalConnection;
  identity: string;
  /** Must have external storage. */
  dataConverter: LoadedDataConverter;
  drainEnding: AbortSignal;
  logger: Logger;
}

export function outcomeReporter(options: ReportOptions): ReportOutcome {
  setMaxListeners(0, options.drainEnding);
  return async (ended, outcome, stopping = options.drainEnding) => {
    const over = new AbortController();
    const isOver = once(over.signal, 'abort').then(() => false);
    const onStopping = () => void setTimeout(() => over.abort(), LAST_REPORTS_MS).unref();
    if (stopping.aborted) onStopping();
    stopping.addEventListener('abort', onStopping);
    try {
      return await Promise.race([untilReported(ended, outcome, options, over.signal), isOver]);
    } finally {
      stopping.removeEventListener('abort', onStopping);
    }
  };
}

async function untilReported(
  ended: EndedActivity,
  outcome: ActivityOutcome,
  options: ReportOptions,
  over: AbortSignal,
): Promise<boolean> {
  const { temporal, logger } = options;
  let send: ((service: WorkflowService) => Promise<unknown>) | undefined;
  for (let pauseMs = FIRST_PAUSE_MS; !over.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      const report = (send ??= await prepare(ended, outcome, options));
      const { current } = temporal;
      await current.withDeadline(Date.now() + ATTEMPT_LIMIT_MS, () => report(current.workflowService));
      return true;
    } catch (error) {
      // The attempt has timed out, the workflow has closed, or an earlier report arrived.
      const isUnawaited = isGrpcError(error, GRPC.notFound);
      if (isUnawaited || !isTransient(error)) {
        ended.onRefused(temporalMessage(error));
        return isUnawaited;
      }
      ended.onWait?.(storageErrorIn(error)?.message);
      if (pauseMs === FIRST_PAUSE_MS)
        logger.info(
          { err: error, workflowId: ended.workflowId },
          "an activity's outcome could not be reported; trying again",
        );
    }
    // Many activities may retry at the same time.
    await delay(withJitter(pauseMs));
  }
  return false;
}

/** Encodes the outcome and moves large payloads to external storage. @returns the call that reports it */
async function prepare(
  { taskToken, workflowId, runId, lastReport }: EndedActivity,
  outcome: ActivityOutcome,
  { temporal: { namespace }, identity, dataConverter }: ReportOptions,
): Promise<(service: WorkflowService) => Promise<unknown>> {
  const initialTarget = { kind: 'workflow' as const, namespace, id: workflowId, runId };
  const offloading = extstoreStoreOptions(dataConverter.externalStorage!, { initialTarget });
  const common = { namespace, identity, taskToken };
  const lastHeartbeatDetails = { payloads: (await encodeToPayloads(dataConverter, lastReport))! };
  if (outcome.status === 'canceled') {
    const request = { ...common, ...(lastReport ? { details: lastHeartbeatDetails } : {}) };
    return (service) => service.respondActivityTaskCanceled(request);
  }
  if (outcome.status === 'failed') {
    const failure = await encodeErrorToFailure(dataConverter, ensureApplicationFailure(outcome.error));
    const request = { ...common, failure, ...(lastReport ? { lastHeartbeatDetails } : {}) };
    await visit(request, walkRespondActivityTaskFailedRequest, offloading);
    return (service) => service.respondActivityTaskFailed(request);
  }
  const result = { payloads: (await encodeToPayloads(dataConverter, outcome.result))! };
  const request = { ...common, result };
  await visit(request, walkRespondActivityTaskCompletedRequest, offloading);
  return (service) => service.respondActivityTaskCompleted(request);
}

/** Whether the same report can succeed later. */
function isTransient(error: unknown): boolean {
  if (!isGrpcServiceError(error)) return isStorageWait(error);
  const isTooLarge = isGrpcError(error, GRPC.resourceExhausted) && !isThrottled(error);
  return !isTooLarge && !isGrpcError(error, GRPC.invalidArgument, GRPC.unimplemented);
}
