/**
 * The one logger. It writes JSON lines to standard error: standard output belongs to stdio transports and to the output of
 * commands.
 */
import { pino, stdSerializers, type Logger } from 'pino';
import { escapeJson } from './control-characters.js';
import { currentLogFields } from './work-context.js';

export type { Logger };

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
