/**
 * What the worker does around every activity: keep it alive with heartbeats, so that authors report only when they
 * have something to say, and hand its last progress to the shell as it ends.
 */
import { Context } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { surroundings, type ActivitySurroundings } from '../activities/shared/context.js';
import { defaultPayloadConverter } from '@temporalio/common';
import { OPERATION_HEADER, type ActivityReport, type ReportedResult } from '../operations/wire.js';

/**
 * How often an activity that says nothing heartbeats, in milliseconds. It is also how soon a cancel is seen: the
 * request comes back with a heartbeat.
 */
const KEEP_ALIVE_INTERVAL_MS = 2_000;

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
      const last = context.info.heartbeatDetails as ActivityReport | undefined;
      const around: ActivitySurroundings = {
        settings,
        storage,
        contact,
        token: defaultPayloadConverter.fromPayload<string>(header),
        progress: last?.longhaul === 'report' ? last.progress : undefined,
      };
      const beat = () => {
        const details: ActivityReport = {
          longhaul: 'report',
          ...(around.progress ? { progress: around.progress } : {}),
        };
        context.heartbeat(details);
      };
      if (last) beat();
      const keepAlive = setInterval(beat, KEEP_ALIVE_INTERVAL_MS);
      try {
        const result = await surroundings.run(around, () => next(input));
        if (!around.progress) return result;
        return { longhaul: 'result', progress: around.progress, result } satisfies ReportedResult;
      } finally {
        clearInterval(keepAlive);
      }
    },
  };
}
