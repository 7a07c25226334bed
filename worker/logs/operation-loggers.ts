/** Loggers of workflows and activities. Each line goes to the operation's log, and to the process's log with token and tool. */
import type { Logger as TemporalLogger } from '@temporalio/common';
import { LRUCache } from 'lru-cache';
import type { InjectedSinks, LoggerSinks } from '@temporalio/worker';
import type { WorkflowInfo } from '@temporalio/workflow';
import { defined } from '../../operations/json/defined.js';
import { parseTrace, type TraceContext } from '../../operations/wire/trace-context.js';
import {
  ANONYMOUS,
  START_MEMO,
  PART_MEMO,
  tokenOf,
  type LogContext,
  type StartMemo,
  type PartMemo,
} from '../../operations/wire/index.js';
import type { Logger } from '../../platform/observe/log.js';
import { logFields } from '../../platform/observe/work-context.js';
import { asTemporalLogger, listenToTaskFailures } from '../../platform/temporal/runtime.js';
import { logLine, type LogLevel, type OperationLogs } from './operation-logs.js';
import { thrownText, type Thrown } from '../../operations/thrown.js';

const LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error'];
/** The SDK's line at an error of a workflow's function. */
const FAILED = 'Workflow failed';
const REMEMBERED_RUNS = 1_000;
const REMEMBERED_CAUSES = 1_000;
/** Limits of operations' lines in the process's log. */
const BURST_LINES = 1_000;
const LINES_PER_SECOND = 500;
const REPORT_MS = 1_000;

export interface LoggingOperation extends LogContext {
  /** The operation's workflow ID. */
  operationId: string;
  token: string;
  trace?: TraceContext;
}

export class OperationLoggers {
  readonly #limit: LineLimit;
  readonly #failing = new FailingWorkflows();
  readonly #runs = new LRUCache<string, { info: WorkflowInfo; operation: LoggingOperation }>({
    max: REMEMBERED_RUNS,
  });

  constructor(
    private readonly logs: OperationLogs,
    private readonly process: Logger,
  ) {
    this.#limit = new LineLimit(process);
    listenToTaskFailures((runId, thrown) => {
      const { info, operation } = this.#runs.get(runId) ?? {};
      if (info && operation && !this.#failing.isKnown(runId, thrown))
        this.#tellFailure('warn', info, operation, { error: thrown });
    });
  }

  /** Writes an operation's buffered lines; resolves within a second. */
  flush(workflowId: string): Promise<void> {
    return this.logs.flush(workflowId);
  }

  ofActivity(operation: LoggingOperation, activityType: string, ofSdk: TemporalLogger): TemporalLogger {
    const source = sourceOf('activity', activityType, operation);
    const write = (level: LogLevel, message: string, attributes: Record<string, unknown> = {}) => {
      this.#writeProcess(ofSdk, level, message, attributes, operation);
      this.logs.add(operation.operationId, logLine({ level, source, message, attributes }));
    };
    return {
      log: (level, message, attributes) => write(level.toLowerCase() as LogLevel, message, attributes),
      ...forLevels((level) => write.bind(undefined, level)),
    };
  }

  /**
   * Logger sink of workflows. The SDK awaits it before reporting a workflow task, so the log is written before a workflow's end is
   * visible.
   */
  workflowSinks(): InjectedSinks<LoggerSinks> {
    const process = asTemporalLogger(this.process);
    const sinkOf = (level: LogLevel) => ({
      fn: (info: WorkflowInfo, message: string, all: Record<string, unknown> = {}): void | Promise<void> => {
        const operation = operationOf(info);
        if (!operation) return process[level](message, all) as void;
        if (all['sdkComponent'] !== 'workflow') {
          this.#runs.set(info.runId, { info, operation });
          // The SDK's own lines: the workflow has started or ended.
          if (message === FAILED) this.#tellFailure(level, info, operation, all);
          else process[level](message, { ...all, ...logFields(operation) });
          return message === 'Workflow started' ? undefined : this.flush(operation.operationId);
        }
        this.#writeProcess(process, level, message, all, operation);
        const source = sourceOf('workflow', info.workflowType, operation);
        const attributes = ownAttributes(info, all);
        this.logs.add(operation.operationId, logLine({ level, source, message, attributes }));
        return undefined;
      },
    });
    return { defaultWorkerLogger: forLevels(sinkOf) };
  }

  /** The console reports a cause once for a tool, and the log once for a run. */
  #tellFailure(
    level: LogLevel,
    { workflowType, runId }: WorkflowInfo,
    operation: LoggingOperation,
    all: Record<string, unknown>,
  ): void {
    const { error } = all;
    const { tool = workflowType, token, operationId } = operation;
    const told = this.#failing.lineOf(workflowType, error);
    const fields = { ...all, ...logFields(operation) };
    if (told) asTemporalLogger(this.process)[level](`${FAILED}: ${tool} ${token}: ${told.text}`, fields);
    const ofRun = this.#failing.lineOf(runId, error);
    if (!ofRun?.isRetried) return;
    const source = sourceOf('workflow', workflowType, operation);
    this.logs.add(
      operationId,
      logLine({ level, source, message: `${FAILED}: ${ofRun.text}`, attributes: {} }),
    );
  }

  #writeProcess(
    to: TemporalLogger,
    level: LogLevel,
    message: string,
    attributes: Record<string, unknown>,
    operation: LoggingOperation,
  ): void {
    if (!this.process.isLevelEnabled(level) || !this.#limit.take()) return;
    try {
      to[level](message, { ...attributes, ...logFields(operation) });
    } catch (error) {
      // A getter among the author's attributes threw. Logging must not fail the work.
      to[level](message, { ...logFields(operation), error });
    }
  }
}

/**
 * Rate limit for operations' lines in the process's log. A pipe takes some 3,000 lines a second and writing blocks the process,
 * so one tool that logs nonstop would stop the heartbeats of all activities.
 */
class LineLimit {
  #left = BURST_LINES;
  #atMs = performance.now();
  #droppedLines = 0;

  constructor(private readonly logger: Pick<Logger, 'warn'>) {}

  /** Counts one line. @returns whether it may be written */
  take(): boolean {
    const nowMs = performance.now();
    this.#left = Math.min(BURST_LINES, this.#left + ((nowMs - this.#atMs) / 1000) * LINES_PER_SECOND);
    this.#atMs = nowMs;
    if (this.#left >= 1) {
      this.#left -= 1;
      return true;
    }
    if (this.#droppedLines === 0) setTimeout(() => this.#report(), REPORT_MS).unref();
    this.#droppedLines += 1;
    return false;
  }

  #report(): void {
    this.logger.warn(
      { count: this.#droppedLines },
      "operations logged too fast: lines are missing here, and are in the operations' logs",
    );
    this.#droppedLines = 0;
  }
}

function forLevels<T>(make: (level: LogLevel) => T): Record<LogLevel, T> {
  return Object.fromEntries(LEVELS.map((level) => [level, make(level)])) as Record<LogLevel, T>;
}

/** Undefined for a workflow outside of operations. */
function operationOf({ memo, workflowId }: WorkflowInfo): LoggingOperation | undefined {
  const part = memo?.[PART_MEMO] as PartMemo | undefined;
  if (part) {
    const { operationId, token, tool, principal = ANONYMOUS, name } = part;
    return { operationId, token, principal, part: name, ...originOf(part), ...defined({ tool }) };
  }
  const startMemo = memo?.[START_MEMO] as StartMemo | undefined;
  if (!startMemo) return undefined;
  const { principal, tool } = startMemo;
  const token = tokenOf(principal, workflowId);
  return { operationId: workflowId, token, tool, principal, ...originOf(startMemo) };
}

/** ID and trace of the request that started the operation. */
function originOf({ startRequestId, traceparent }: Pick<StartMemo, 'startRequestId' | 'traceparent'>) {
  return defined({ requestId: startRequestId, trace: parseTrace(traceparent) });
}

/** `activity pour`; in a part, `activity pour (north)`. */
function sourceOf(kind: 'workflow' | 'activity', type: string, { part }: LoggingOperation): string {
  return `${kind} ${type}${part === undefined ? '' : ` (${part})`}`;
}

/** The author's attributes, without the SDK's. */
function ownAttributes(info: WorkflowInfo, all: Record<string, unknown>): Record<string, unknown> {
  const { namespace, taskQueue, workflowId, runId, workflowType } = info;
  const ofSdk: Record<string, unknown> = {
    ...{ namespace, taskQueue, workflowId, runId, workflowType },
    sdkComponent: 'workflow',
  };
  return Object.fromEntries(
    Object.entries(all).filter(
      ([name, value]) => ofSdk[name] !== value && name !== 'updateId' && name !== 'updateName',
    ),
  );
}

/** Stack of an error that fails the run: it isn't retried. */
const IS_FAILURE = /^\w*Failure\b/;

/**
 * Lines about workflows whose code throws. Temporal retries their tasks, so each cause is reported once, and again at the 10th, 100th, ...
 * time with the count.
 */
class FailingWorkflows {
  readonly #counts = new LRUCache<string, number>({ max: REMEMBERED_CAUSES });

  /** The text of a line, and whether the code will be retried; undefined if the cause is known. @param who is part of the cause */
  lineOf(who: string, error: unknown): { text: string; isRetried: boolean } | undefined {
    const text = textOf(error);
    if (IS_FAILURE.test((error as Partial<Thrown> | null)?.stack ?? '')) return { text, isRetried: false };
    const key = `${who}\n${text}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    if (!/^10*$/.test(String(count))) return undefined;
    return { text: count === 1 ? text : `${text} (${count} times)`, isRetried: true };
  }

  isKnown(who: string, error: unknown): boolean {
    return this.#counts.has(`${who}\n${textOf(error)}`);
  }
}

function textOf(error: unknown): string {
  const { message = String(error), stack } = (error ?? {}) as Partial<Thrown>;
  return thrownText({ message, stack });
}
