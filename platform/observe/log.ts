/** The one logger. It writes JSON lines to standard error, because stdio transports and commands use standard output. */
import { pino, stdSerializers, type Logger } from 'pino';
import { escapeJson } from './control-characters.js';
import { currentLogFields } from './work-context.js';

export type { Logger };

const REPORT_INTERVAL_MS = 10_000;

/** @param process name of the process, on every line @param level lowest level written. Default: `info` */
export function createLogger(process: string, level: string = 'info'): Logger {
  return pino(
    // Errors are `err` here, following pino's convention, and `error` in logs of Temporal's SDK.
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

/** Limits a report that callers can cause to one line in ten seconds, so that they can't flood the log. */
export function sparingly<Args extends unknown[]>(report: (...args: Args) => void): (...args: Args) => void {
  let reportedMs = -Infinity;
  return (...args) => {
    if (performance.now() - reportedMs < REPORT_INTERVAL_MS) return;
    reportedMs = performance.now();
    report(...args);
  };
}
