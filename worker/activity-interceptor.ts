/**
 * What the worker does around every activity: keep it alive with heartbeats, so that authors report only when they
 * have something to say, and hand its last progress to the shell as it ends.
 */
import { CompleteAsyncError, Context, type Info } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { surroundings, type ActivitySurroundings } from '../activities/shared/context.js';
import { CancelledFailure, defaultPayloadConverter, ensureApplicationFailure } from '@temporalio/common';
import { reportIn, withReport, type ActivityReport, type ReportedResult } from '../operations/report.js';
import type { Progress } from '../operations/record.js';
import { OPERATION_HEADER } from '../operations/wire.js';

/**
 * How often an activity that says nothing heartbeats, in milliseconds. It is also how soon a cancel is seen: the
 * request comes back with a heartbeat.
 */
const KEEP_ALIVE_INTERVAL_MS = 2_000;

/** Shortest wait for a worker that is told to the workflow, in milliseconds. */
const SHORTEST_QUEUED_MS = 200;

export function activityInterceptor({
  settings,
  storage,
  contact,
}: Pick<ActivitySurroundings, 'settings' | 'storage' | 'contact'>): ActivityInboundCallsInterceptor {
  return {
    async execute(input, next) {
      const context = Context.current();
      const header = input.headers[OPERATION_HEADER];
      if (!header) return next(input);
      const last: unknown = context.info.heartbeatDetails;
      const around: ActivitySurroundings = {
        settings,
        storage,
        contact,
        token: defaultPayloadConverter.fromPayload<string>(header),
        progress: reportIn(last),
      };
      const beat = () => {
        const details: ActivityReport = {
          longhaul: 'report',
          ...(around.progress ? { progress: around.progress } : {}),
        };
        context.heartbeat(details);
      };
      const queuedMs = queuedMsOf(context.info);
      if (last) beat();
      const keepAlive = setInterval(beat, KEEP_ALIVE_INTERVAL_MS);
      try {
        const result = await surroundings.run(around, () => next(input));
        const { progress } = around;
        if (!progress && queuedMs === undefined) return result;
        return {
          longhaul: 'result',
          ...(progress ? { progress } : {}),
          ...(queuedMs === undefined ? {} : { queuedMs }),
          result,
        } satisfies ReportedResult;
      } catch (error) {
        throw around.progress ? reporting(error, around.progress, context.cancellationSignal) : error;
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

/** The error as Temporal will keep it, with what the activity has reported as its last detail. */
function reporting(error: unknown, progress: Progress, { aborted }: AbortSignal): unknown {
  if (error instanceof CompleteAsyncError) return error;
  const isAbort = aborted && (error as Error | undefined)?.name === 'AbortError';
  const failure =
    error instanceof CancelledFailure
      ? error
      : isAbort
        ? new CancelledFailure((error as Error).message)
        : ensureApplicationFailure(error);
  return Object.assign(failure, { details: withReport(failure.details, progress) });
}
