/** Temporal's runtime, one a process: its connections and workers share it, and all that it logs goes to our logger. */
import type { Logger as TemporalLogger } from '@temporalio/worker';
// The package's index loads the whole worker, which servers don't need.
import { Runtime } from '@temporalio/worker/lib/runtime.js';
import { makeTelemetryFilterString } from '@temporalio/worker/lib/runtime-options.js';
import { IllegalStateError } from '@temporalio/common';
import type { Logger } from './log.js';

/** Installs the runtime unless the process has one; the first caller's logger serves all. */
export function installRuntime(logger: Logger): void {
  try {
    install(logger);
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

/** @throws IllegalStateError when the process has a runtime, which may be its own: Longhaul also runs as a library */
function install(logger: Logger): void {
  Runtime.install({
    logger: asTemporalLogger(logger),
    shutdownSignals: [],
    // Without `forward`, the SDK's native core prints to the console itself, in colour.
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
    },
  });
}

type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** What the SDK reports, by its level: its progress reports are details here. */
const SDK_LEVELS: Record<Level, Level> = {
  trace: 'trace',
  debug: 'trace',
  info: 'debug',
  warn: 'warn',
  error: 'error',
};

/** What the native core reports, by its level: it retries by itself, and Longhaul says what that means for users. */
const CORE_LEVELS: Record<Level, Level> = {
  trace: 'trace',
  debug: 'trace',
  info: 'debug',
  warn: 'debug',
  error: 'info',
};

function levelOf(level: Level, component: unknown): Level {
  if (component === 'workflow' || component === 'activity') return level;
  return (component === 'core' ? CORE_LEVELS : SDK_LEVELS)[level];
}

/** Temporal's logger interface over ours. Lines of workflows' and activities' own code keep their level. */
export function asTemporalLogger(logger: Logger): TemporalLogger {
  const write = (level: Level, message: string, meta?: Record<string, unknown>) => {
    // Each of a worker's task queues has what it needs.
    const isExpected = /^No (workflows|activities) registered/.test(message);
    logger[isExpected ? 'trace' : levelOf(level, meta?.['sdkComponent'])](meta ?? {}, message);
  };
  return {
    log: (level, message, meta) => write(level.toLowerCase() as Level, message, meta),
    trace: (message, meta) => write('trace', message, meta),
    debug: (message, meta) => write('debug', message, meta),
    info: (message, meta) => write('info', message, meta),
    warn: (message, meta) => write('warn', message, meta),
    error: (message, meta) => write('error', message, meta),
  };
}
