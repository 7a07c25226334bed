/**
 * Interceptor for every activity of an operation: sends heartbeats, keeps the operation's log, and reports progress and
 * outcome, even after an outage. It refuses activities of workflows that no server has started.
 */
import { CompleteAsyncError, type Context, type Info } from '@temporalio/activity';
import {
  ApplicationFailure,
  defaultPayloadConverter,
  ensureApplicationFailure,
  RawValue,
  type Headers,
} from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { endAttempt, type AttemptEnd, type AttemptRecord } from '../../activities/runtime/attempt-span.js';
import {
  activityContext,
  OUTCOME_REFUSED,
  type ActivityContext,
  type ActivityOutcome,
  type ReportOutcome,
} from '../../activities/runtime/context.js';
import { lossIn, NOT_JSON } from '../../operations/json/lossless.js';
import type { Progress } from '../../operations/record.js';
import {
  reportIn,
  withReport,
  type ActivityReport,
  type ReportedResult,
} from '../../operations/wire/report.js';
import {
  LOG_CONTEXT_HEADER,
  OPERATION_HEADER,
  OPERATION_ID_HEADER,
  type LogContext,
} from '../../operations/wire/index.js';
import { PAGE_WORKFLOW, PIPELINE_WORKFLOW } from '../../pipelines/pipeline.js';
import { inWork, logFields } from '../../platform/observe/work-context.js';
import type { LoggingOperation, OperationLoggers } from '../logs/operation-loggers.js';
import type { EventLoopWatchdog } from './event-loop/watchdog.js';
import type { WorkerMetrics, QueueWaits } from './metrics.js';
import { attemptTrace, failedEnd, isBenign, isCancel } from './trace-work.js';
import type { VerifyStart } from './verify-start.js';

/** Shortest heartbeat interval for an activity that reports nothing, in milliseconds. */
const LEAST_BEAT_INTERVAL_MS = 2_000;

/** Minimum time in queue that is reported to the workflow, in milliseconds. */
const SHORTEST_QUEUED_MS = 200;

export interface ActivityInterceptorsOptions extends Pick<
  ActivityContext,
  'settings' | 'storage' | 'steps' | 'stopping'
> {
  loggers: OperationLoggers;
  reportOutcome: ReportOutcome;
  verifyStart: VerifyStart;
  metrics: WorkerMetrics;
  waits: QueueWaits;
  watchdog: EventLoopWatchdog;
}

export function activityInterceptors(options: ActivityInterceptorsOptions): ActivityInterceptorsFactory {
  return (context) => {
    let operation: LoggingOperation | undefined;
    return {
      outbound: {
        getLogAttributes: (input, next) => next({ ...input, ...(operation ? logFields(operation) : {}) }),
      },
      inbound: {
        async execute(input, next) {
          const { activityType, workflowType } = context.info;
          const waitedMs = options.waits.of(context.info);
          options.metrics.activityStarts(context.info, waitedMs);
          options.verifyStart(input.headers, context.info);
          operation = operationIn(input.headers, context.info);
          const { token, tool, principal, requestId } = operation ?? {};
          const ids = { 'longhaul.token': token, 'longhaul.tool': tool };
          const { trace, record } = attemptTrace(input.headers, context.info, ids);
          const work = { token, tool, principal, requestId, trace };
          if (!operation) return inWork(work, () => withAttempt(record, () => next(input)));
          operation.trace = trace;
          // The SDK offers no other way to receive an activity's log lines. Pipeline steps have logs of their own.
          if (workflowType !== PIPELINE_WORKFLOW && workflowType !== PAGE_WORKFLOW)
            context.log = options.loggers.ofActivity(operation, activityType, context.log);
          const belonging = operation;
          const starting = { attempt: record, waitedMs };
          return inWork(work, () => execute(() => next(input), context, belonging, starting, options));
        },
      },
    };
  };
}

/** @throws CompleteAsyncError once the outcome is reported */
async function execute(
  run: () => Promise<unknown>,
  context: Context,
  { token, operationId, tool, startedMs }: LoggingOperation,
  { attempt, waitedMs }: { attempt: AttemptRecord | undefined; waitedMs: number },
  options: ActivityInterceptorsOptions,
): Promise<unknown> {
  const { settings, storage, steps, stopping, loggers, reportOutcome, metrics, waits } = options;
  const { isLocal, taskToken, workflowExecution, activityId } = context.info;
  const last: unknown = context.info.heartbeatDetails;
  const around: ActivityContext = {
    settings,
    storage,
    steps,
    stopping,
    token,
    operationId,
    attempt,
    progress: reportIn(last),
    earlier: reportIn(last),
    ...(tool === undefined || startedMs === undefined || last
      ? {}
      : { onFirstReport: () => metrics.firstProgress(operationId, tool, waits.nowMs - startedMs) }),
  };
  const watch = options.watchdog.watch(around, context);
  const stray = new Promise<never>((_, reject) => {
    around.fail = reject;
  });
  stray.catch(() => undefined);
  let waitsFor: string | undefined;
  const lastReport = (): ActivityReport => ({
    longhaul: 'report',
    progress: around.progress,
  });
  const beat = () => context.heartbeat({ ...lastReport(), waitsFor });
  const queuedMs = queuedMsOf(context.info, waitedMs);
  if (last) beat();
  // Temporal accepts no heartbeats or outcomes of local activities: their workflow task covers them.
  const keepAlive = isLocal ? undefined : setInterval(beat, beatIntervalMs(context.info, settings));
  try {
    const work = activityContext.run(around, async () => {
      if (!isLocal) await watch.assertNotBlocking();
      const result = await Promise.race([run(), stray]);
      const { progress } = around;
      // Temporal takes bytes as they are, unless they are within a report.
      const areBytes = result instanceof Uint8Array && !progress;
      if (!areBytes) assertJson(result, `result of activity ${context.info.activityType}`);
      if (areBytes || (!progress && queuedMs === undefined)) return result;
      return {
        longhaul: 'result',
        ...(progress ? { progress } : {}),
        queuedMs,
        result,
      } satisfies ReportedResult;
    });
    if (isLocal) return await withAttempt(attempt, () => work.finally(() => loggers.flush(operationId)));
    const outcome = await work.then(
      (result): ActivityOutcome => ({ status: 'completed', result }),
      (error: unknown) => outcomeOf(error, context, around.progress),
    );
    await loggers.flush(operationId);
    let isRefused = false;
    const ended = {
      taskToken,
      ...workflowExecution!,
      lastReport: lastReport(),
      onWait(message: string | undefined) {
        waitsFor = message;
        beat();
      },
      onRefused(reason: string) {
        isRefused = true;
        // An activity that was cancelled may end after its workflow.
        const level = outcome?.status === 'canceled' ? 'debug' : 'warn';
        context.log[level](OUTCOME_REFUSED, { activityId, attempt: context.info.attempt, reason });
      },
    };
    const { kept } = around;
    if (outcome && (await reportOutcome(ended, outcome, kept && stopping))) {
      await kept?.forget();
      if (!isRefused) await watch.acquit();
      if (attempt) endAttempt(attempt, endOf(outcome));
      throw new CompleteAsyncError();
    }
    if (kept && stopping.aborted) {
      // The next worker of the host reports it.
      kept.leave();
      throw new CompleteAsyncError();
    }
    return await withAttempt(attempt, () => work);
  } finally {
    clearInterval(keepAlive);
    watch.end();
    around.fail = (error) => {
      context.log.error('the activity had ended when its code failed', { error });
    };
  }
}

/** @throws ApplicationFailure `NotJson`, non-retryable: another attempt would only repeat what this one did */
function assertJson(value: unknown, name: string): void {
  const loss = value instanceof RawValue ? undefined : lossIn(value, name);
  if (loss !== undefined) throw ApplicationFailure.nonRetryable(loss, NOT_JSON);
}

/** Ends an attempt's span as the SDK reports it. If a step runs on, the process that reports its outcome ends the span. */
async function withAttempt<T>(attempt: AttemptRecord | undefined, run: () => Promise<T>): Promise<T> {
  try {
    const result = await run();
    if (attempt) endAttempt(attempt, { outcome: 'completed' });
    return result;
  } catch (error) {
    if (attempt && !(error instanceof CompleteAsyncError)) endAttempt(attempt, failedEnd(error));
    throw error;
  }
}

function endOf(outcome: ActivityOutcome): AttemptEnd {
  return outcome.status === 'failed' ? failedEnd(outcome.error) : { outcome: outcome.status };
}

/** The activity's operation; undefined outside of operations. */
function operationIn(headers: Headers, { workflowExecution }: Info): LoggingOperation | undefined {
  const value = <T>(name: string) => {
    const payload = headers[name];
    return payload && defaultPayloadConverter.fromPayload<T>(payload);
  };
  const token = value<string>(OPERATION_HEADER);
  if (token === undefined) return undefined;
  const operationId = value<string>(OPERATION_ID_HEADER) ?? workflowExecution!.workflowId;
  return { ...value<LogContext>(LOG_CONTEXT_HEADER), token, operationId };
}

/** Half the SDK's heartbeat interval, in milliseconds, so every heartbeat carries progress. */
function beatIntervalMs(
  { heartbeatTimeoutMs }: Info,
  { heartbeatSeconds }: Pick<ActivityContext['settings'], 'heartbeatSeconds'>,
): number {
  const timeoutMs = heartbeatTimeoutMs || Infinity;
  return Math.min(Math.max(heartbeatSeconds * 500, LEAST_BEAT_INTERVAL_MS), timeoutMs / 4);
}

/** Time in queue in milliseconds; undefined when it was short. Queue times of earlier attempts are unknown. */
function queuedMsOf({ attempt }: Info, waitedMs: number): number | undefined {
  return attempt === 1 && waitedMs >= SHORTEST_QUEUED_MS ? waitedMs : undefined;
}

/** Undefined for errors that the SDK handles: pause, reset and worker shutdown. */
function outcomeOf(
  error: unknown,
  context: Context,
  progress: Progress | undefined,
): ActivityOutcome | undefined {
  const { cancellationSignal, cancellationDetails, log } = context;
  if (error instanceof CompleteAsyncError) return undefined;
  if (isCancel(error) && cancellationSignal.aborted)
    return cancellationDetails?.cancelRequested ? { status: 'canceled' } : undefined;
  log[isBenign(error) ? 'debug' : 'warn']('Activity failed', { error });
  const failure = ensureApplicationFailure(error);
  const isWhole = lossIn(failure.details, '') === undefined;
  if (!progress && isWhole) return { status: 'failed', error };
  // A failure with details that JSON refuses would never reach Temporal.
  const own = isWhole ? failure.details : [];
  const details = progress ? withReport(own, progress) : own;
  return { status: 'failed', error: Object.assign(failure, { details }) };
}
