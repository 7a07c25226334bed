/**
 * Wraps every activity of an operation: keeps it alive with heartbeats, so that authors report only when they have
 * something to say, hands its last progress to the shell as it ends, and reports its outcome through any outage.
 */
import { CompleteAsyncError, Context } from '@temporalio/activity';
import {
  ApplicationFailure,
  ApplicationFailureCategory,
  CancelledFailure,
  defaultPayloadConverter,
} from '@temporalio/common';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { surroundings, type ActivitySurroundings } from '../activities/shared/context.js';
import type { ActivityOutcome, ReportOutcome } from '../activities/shared/outcome.js';
import { OPERATION_HEADER, type ActivityReport, type ReportedResult } from '../operations/wire.js';

/**
 * How often an activity that says nothing heartbeats, in milliseconds. It is also how soon a cancel is seen: the
 * request comes back with a heartbeat.
 */
const KEEP_ALIVE_INTERVAL_MS = 2_000;

export function activityInterceptor(
  { settings, storage, contact }: Pick<ActivitySurroundings, 'settings' | 'storage' | 'contact'>,
  reportOutcome: ReportOutcome,
): ActivityInboundCallsInterceptor {
  return {
    async execute(input, next) {
      const context = Context.current();
      const header = input.headers[OPERATION_HEADER];
      if (!header) return next(input);
      const last = context.info.heartbeatDetails as ActivityReport | undefined;
      const around: ActivitySurroundings = {
        settings,
        storage,
        contact,
        token: defaultPayloadConverter.fromPayload<string>(header),
        progress: last?.longhaul === 'report' ? last.progress : undefined,
        afterReport: [],
      };
      const lastReport = (): ActivityReport => ({
        longhaul: 'report',
        ...(around.progress ? { progress: around.progress } : {}),
      });
      const beat = () => context.heartbeat(lastReport());
      if (last) beat();
      const keepAlive = setInterval(beat, KEEP_ALIVE_INTERVAL_MS);
      try {
        const work = surroundings.run(around, async () => {
          const result: unknown = await next(input);
          if (!around.progress) return result;
          return { longhaul: 'result', progress: around.progress, result } satisfies ReportedResult;
        });
        const outcome = await work.then(
          (result): ActivityOutcome => ({ status: 'completed', result }),
          (error: unknown) => outcomeOf(error, context),
        );
        const { taskToken, workflowExecution } = context.info;
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

/** Undefined when the error is no end of the attempt: the SDK knows pauses, resets and its own shutdown. */
function outcomeOf(error: unknown, context: Context): ActivityOutcome | undefined {
  const { cancellationSignal, cancellationDetails, log } = context;
  if (error instanceof CompleteAsyncError) return undefined;
  const isCancel = error instanceof CancelledFailure || (error as Error | undefined)?.name === 'AbortError';
  if (isCancel && cancellationSignal.aborted)
    return cancellationDetails?.cancelRequested ? { status: 'canceled' } : undefined;
  const isBenign =
    error instanceof ApplicationFailure && error.category === ApplicationFailureCategory.BENIGN;
  log[isBenign ? 'debug' : 'warn']('Activity failed', { error });
  return { status: 'failed', error };
}
