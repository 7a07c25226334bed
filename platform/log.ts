/**
 * The one logger. It writes JSON lines to standard error: standard output belongs to stdio transports and to the output of
 * commands.
 */
import { pino, stdSerializers, type Logger } from 'pino';
import { escapeJson } from './control-characters.js';
import { currentLogFields } from './work-context.js';

export type { Logger };

/** Shortest time between two lines of a report that callers can cause, in milliseconds. */
const REPORT_INTERVAL_MS = 10_000;

/**
 * @param process name of the process, on every line
 * @param level least severe level that is written. Default: `info`
 */
export function createLogger(process: string, level: string = 'info'): Logger {
  return pino(
    // Errors are `err` here, as pino's own convention is, and `error` in what Temporal's SDK logs.
    {
      name: process,
      level,
      serializers: { err: stdSerializers.err, error: stdSerializers.err },
      // A line's own fields have priority.
      mixin: currentLogFields,
      // A terminal may show the log.
      hooks: { streamWrite: escapeJson },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** A report that callers can cause: made once in ten seconds at most, so that a flood of requests is no flood of lines. */
export function sparingly<Args extends unknown[]>(report: (...args: Args) => void): (...args: Args) => void {
  let reportedMs = -Infinity;
  return (...args) => {
    if (performance.now() - reportedMs < REPORT_INTERVAL_MS) return;
    reportedMs = performance.now();
    report(...args);
  };
}
