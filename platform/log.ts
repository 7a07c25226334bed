/**
 * The one logger. It writes JSON lines to standard error: standard output belongs to stdio transports and to
 * what commands print.
 */
import { pino, type Logger } from 'pino';

export type { Logger };

/**
 * @param process name of the process, on every line
 * @param level least severe level that is written. Default: `info`
 */
export function createLogger(process: string, level: string = 'info'): Logger {
  return pino({ name: process, level }, pino.destination({ dest: 2, sync: true }));
}
