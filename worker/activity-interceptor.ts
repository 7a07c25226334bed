/**
 * Wraps every activity of an operation: keeps it alive with heartbeats, so that authors report only when they have
 * something to say, hands its last progress to the shell as it ends, and reports its outcome through any outage.
 */
import { CompleteAsyncError, Context, type Info } from '@temporalio/activity';
import {
  ApplicationFailure,
  ApplicationFailureCategory,
  CancelledFailure,
  defaultPayloadConverter,
  ensureApplicationFailure,
} from '@temporalio/common';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { surroundings, type ActivitySurroundings } from '../activities/shared/context.js';
import type { ActivityOutcome, ReportOutcome } from '../activities/shared/outcome.js';
import type { Progress } from '../operations/record.js';
import { reportIn, withReport, type ActivityReport, type ReportedResult } from '../operations/report.js';
import { OPERATION_HEADER, OPERATION_ID_HEADER } from '../operations/wire.js';

/**
 * How often an activity that says nothing heartbeats, in milliseconds. It is also how soon a cancel is seen: the
 * request comes back with a heartbeat.
 */
const KEEP_ALIVE_INTERVAL_MS = 2_000;

/** Shortest wait for a worker that is told to the workflow, in milliseconds. */
const SHORTEST_QUEUED_MS = 200;

export function activityInterceptor(
  { settings, storage, contact }: Pick<ActivitySurroundings, 'settings' | 'storage' | 'contact'>,
  reportOutcome: ReportOutcome,
): ActivityInboundCallsInterceptor {
  return {
    async execute(input, next) {
      const context = Context.current();
      const { isLocal, workflowExecution } = context.info;
      const header = input.headers[OPERATION_HEADER];
      if (!header) return next(input);
      const idHeader = input.headers[OPERATION_ID_HEADER];
      const last: unknown = context.info.heartbeatDetails;
      const around: ActivitySurroundings = {
        settings,
        storage,
        contact,
        token: defaultPayloadConverter.fromPayload<string>(header),
        operationId: idHeader
          ? defaultPayloadConverter.fromPayload<string>(idHeader)
          : workflowExecution!.workflowId,
        progress: reportIn(last),
        afterReport: [],
      };
      const lastReport = (): ActivityReport => ({
        longhaul: 'report',
        ...(around.progress ? { progress: around.progress } : {}),
      });
      const beat = () => context.heartbeat(lastReport());
      const queuedMs = queuedMsOf(context.info);
      if (last) beat();
      // Temporal takes neither heartbeats nor outcomes of local activities: their workflow task stands for them.
      const keepAlive = isLocal ? undefined : setInterval(beat, KEEP_ALIVE_INTERVAL_MS);
      try {
        const work = surroundings.run(around, async () => {
          const result: unknown = await next(input);
          const { progress } = around;
          if (!progress && queuedMs === undefined) return result;
          return {
            longhaul: 'result',
            ...(progress ? { progress } : {}),
            ...(queuedMs === undefined ? {} : { queuedMs }),
            result,
          } satisfies ReportedResult;
        });
        if (isLocal) return await work;
        const outcome = await work.then(
          (result): ActivityOutcome => ({ status: 'completed', result }),
          (error: unknown) => outcomeOf(error, context, around.progress),
        );
        const { taskToken } = context.info;
        const ended = { taskToken, ...workflowExecution!, lastReport: lastReport() };
        // Otherwise the SDK reports it.
        if (!outcome || !(await reportOutcome(ended, outcome))) return await work;
        for (const after of around.afterReport) await after();
        throw new CompleteAsyncError();
      } finally {
        clearInterval(keepAlive);
      }
    },
  };
}

/** Undefined when it was short. How long earlier attempts waited isn't known. */
function queuedMsOf({ attempt, currentAttemptScheduledTimestampMs }: Info): number | undefined {
  const queuedMs = Date.now() - currentAttemptScheduledTimestampMs;
  return attempt === 1 && queuedMs >= SHORTEST_QUEUED_MS ? queuedMs : undefined;
}

/** Undefined when the error is no end of the attempt: the SDK knows pauses, resets and its own shutdown. */
function outcomeOf(
  error: unknown,
  context: Context,
  progress: Progress | undefined,
): ActivityOutcome | undefined {
  const { cancellationSignal, cancellationDetails, log } = context;
  if (error instanceof CompleteAsyncError) return undefined;
  const isCancel = error instanceof CancelledFailure || (error as Error | undefined)?.name === 'AbortError';
  if (isCancel && cancellationSignal.aborted)
    return cancellationDetails?.cancelRequested ? { status: 'canceled' } : undefined;
  const isBenign =
    error instanceof ApplicationFailure && error.category === ApplicationFailureCategory.BENIGN;
  log[isBenign ? 'debug' : 'warn']('Activity failed', { error });
  if (!progress) return { status: 'failed', error };
  const failure = ensureApplicationFailure(error);
  const details = withReport(failure.details, progress);
  return { status: 'failed', error: Object.assign(failure, { details }) };
}
