/**
 * Errors that an activity's code throws outside of its promise, and its calls of `process.exit()`. They would end the worker, and Temporal
 * would know only a time-out. By the async context, they fail the attempt that they belong to instead.
 */
import { activityContext } from '../../activities/runtime/context.js';
import type { Logger } from '../../platform/observe/log.js';

const NO_REASON = /^This error originated .* reason "(.*)"\.$/s;

/** @returns puts things back as they were */
export function catchStrayErrors(logger: Logger): () => void {
  const exit = process.exit.bind(process);
  const take = (error: Error, origin: NodeJS.UncaughtExceptionOrigin) => {
    const fail = activityContext.getStore()?.fail;
    if (fail) return fail(strayError(error, origin));
    logger.fatal({ err: error }, 'the worker ends, because of an error outside of activities');
    return exit(1);
  };
  process.exit = (...code) => {
    if (!activityContext.getStore()) return exit(...code);
    throw new Error(
      `process.exit(${code.join('')}) would end the worker: throw an error to fail the activity`,
    );
  };
  process.on('uncaughtException', take);
  return () => {
    process.exit = exit;
    process.off('uncaughtException', take);
  };
}

/** Keeps the stack, which has the place. */
function strayError(error: Error, origin: NodeJS.UncaughtExceptionOrigin): Error {
  const thrown = String(error?.message ?? error).replace(NO_REASON, '$1');
  const message =
    origin === 'unhandledRejection'
      ? `a promise that isn't awaited was rejected: ${thrown}: await it, or catch its error`
      : `an error was thrown in a callback: ${thrown}: catch it there, and reject the activity's promise`;
  return Object.assign(new Error(message), { stack: error?.stack ?? '' });
}
