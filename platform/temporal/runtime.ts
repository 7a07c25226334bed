/** Temporal's runtime, one per process. Connections and workers share it, and it forwards its logs to our logger. */
import type { Logger as TemporalLogger } from '@temporalio/worker';
import { IllegalStateError } from '@temporalio/common';
import type { Thrown } from '../../operations/thrown.js';
import type { Logger } from '../observe/log.js';
import { coreAddress, withoutCorePage } from '../observe/metrics/core-page.js';
import { makeTelemetryFilterString, Runtime } from './internal/native.js';

/** Installs the runtime unless the process has one. The first caller's logger serves all. */
export function installRuntime(logger: Logger): void {
  try {
    install(logger, coreAddress());
  } catch (error) {
    if (error instanceof IllegalStateError) return;
    if (coreAddress() === undefined) throw error;
    logger.warn({ err: error }, "metrics of Temporal's core are off: their port can't be listened on");
    withoutCorePage();
    installRuntime(logger);
  }
}

/** @throws IllegalStateError when the process already has a runtime, e.g. from a host application */
function install(logger: Logger, metricsAddress: string | undefined): void {
  Runtime.install({
    logger: asTemporalLogger(logger),
    shutdownSignals: [],
    // Without `forward`, the SDK's native core prints to the console itself, in colour.
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
      ...(metricsAddress === undefined
        ? {}
        : {
            metrics: {
              prometheus: {
                bindAddress: metricsAddress,
                countersTotalSuffix: true,
                unitSuffix: true,
                useSecondsForDurations: true,
              },
              attachServiceName: false,
            },
          }),
    },
  });
}

type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** Maps the SDK's log levels to ours: its progress messages are details here. */
const SDK_LEVELS: Record<Level, Level> = {
  trace: 'trace',
  debug: 'trace',
  info: 'debug',
  warn: 'warn',
  error: 'error',
};

/** Maps the native core's log levels to ours: it retries by itself, and Longhaul logs what matters to users. */
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

/** The core's line when a worker fails a workflow task for the first time. The SDK logs nothing if another function than the workflow's threw. */
const TASK_FAILED = 'Failing workflow task';

type TaskFailureListener = (runId: string, thrown: Thrown) => void;

let onTaskFailure: TaskFailureListener | undefined;

export function listenToTaskFailures(listener: TaskFailureListener): void {
  onTaskFailure = listener;
}

/** @param failure as Rust's debug format writes it, with the causes inside */
function thrownIn(failure: string): Thrown {
  const textsOf = (field: string) =>
    [...failure.matchAll(new RegExp(`\\b${field}: "((?:[^"\\\\]|\\\\.)*)"`, 'gs'))].map(([, text]) =>
      text!.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped)),
    );
  return { message: textsOf('message')[0] ?? failure, stack: textsOf('stack_trace').join('\n') };
}

/** Adapts our logger to Temporal's interface. Messages from workflow and activity code keep their level. */
export function asTemporalLogger(logger: Logger): TemporalLogger {
  const write = (level: Level, message: string, meta?: Record<string, unknown>) => {
    // Some of a worker's task queues serve workflows or activities only.
    if (message === TASK_FAILED && meta?.['sdkComponent'] === 'core')
      onTaskFailure?.(String(meta['runId']), thrownIn(String(meta['failure'])));
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
