/**
 * The loggers of workflows and activities: each line goes to the process's log, with the operation's token and tool, and
 * into the operation's own log.
 */
import type { Logger as TemporalLogger } from '@temporalio/common';
import type { InjectedSinks } from '@temporalio/worker';
import type { WorkflowInfo } from '@temporalio/workflow';
import { workflowLogAttributes, type LoggerSinksDeprecated } from '@temporalio/workflow/lib/logs.js';
import {
  MARKER_MEMO,
  PART_MEMO,
  tokenOf,
  type LogContext,
  type MarkerMemo,
  type PartMemo,
} from '../operations/wire.js';
import { logLine, type LogLevel } from './log-line.js';
import type { OperationLogs } from './operation-logs.js';

const LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error'];

/** The operation that a line belongs to. */
export interface LoggingOperation extends LogContext {
  /** Its workflow ID. */
  operationId: string;
  token: string;
}

/** An operation's attributes of lines in the process's log. */
export function attributesOf({ token, tool }: LoggingOperation): Record<string, string> {
  return { token, ...(tool === undefined ? {} : { tool }) };
}

/** The logger of an activity of an operation, over that of the SDK. */
export function activityLogger(
  logs: OperationLogs,
  operation: LoggingOperation,
  activityType: string,
  ofSdk: TemporalLogger,
): TemporalLogger {
  const source = sourceOf('activity', activityType, operation);
  const write = (level: LogLevel, message: string, attributes: Record<string, unknown> = {}) => {
    try {
      ofSdk[level](message, { ...attributes, ...attributesOf(operation) });
    } catch (error) {
      // A getter among the author's attributes: no line may fail the activity.
      ofSdk[level](message, { ...attributesOf(operation), error });
    }
    logs.add(operation.operationId, logLine({ level, source, message, attributes }));
  };
  return {
    log: (level, message, attributes) => write(level.toLowerCase() as LogLevel, message, attributes),
    ...(Object.fromEntries(LEVELS.map((level) => [level, write.bind(undefined, level)])) as Omit<
      TemporalLogger,
      'log'
    >),
  };
}

/**
 * The sink that workflows log to, in place of the SDK's own. The SDK calls it for no line of a replay, and calls and awaits it
 * before it reports a workflow task: the log of a workflow that has ended is written before anybody sees its end.
 */
export function workflowLogSinks(
  logs: OperationLogs,
  process: TemporalLogger,
): InjectedSinks<LoggerSinksDeprecated> {
  const sinkOf = (level: LogLevel) => ({
    fn(info: WorkflowInfo, message: string, all: Record<string, unknown> = {}): void | Promise<void> {
      const operation = operationOf(info);
      process[level](message, { ...all, ...(operation ? attributesOf(operation) : {}) });
      if (!operation) return undefined;
      if (all['sdkComponent'] !== 'workflow')
        // What the SDK says of the workflow: that it has started, or ended.
        return message === 'Workflow started' ? undefined : logs.flush(operation.operationId);
      const source = sourceOf('workflow', info.workflowType, operation);
      const attributes = ownAttributes(info, all);
      logs.add(operation.operationId, logLine({ level, source, message, attributes }));
      return undefined;
    },
  });
  return {
    defaultWorkerLogger: Object.fromEntries(
      LEVELS.map((level) => [level, sinkOf(level)]),
    ) as InjectedSinks<LoggerSinksDeprecated>['defaultWorkerLogger'],
  };
}

/** Undefined for a workflow that belongs to no operation. */
function operationOf({ memo, workflowId }: WorkflowInfo): LoggingOperation | undefined {
  const part = memo?.[PART_MEMO] as PartMemo | undefined;
  if (part) return { ...part, part: part.name };
  const marker = memo?.[MARKER_MEMO] as MarkerMemo | undefined;
  if (!marker) return undefined;
  return { operationId: workflowId, token: tokenOf(marker.principal, workflowId), tool: marker.tool };
}

/** `activity pour`; in a part, `activity pour (north)`. */
function sourceOf(kind: 'workflow' | 'activity', type: string, { part }: LoggingOperation): string {
  return `${kind} ${type}${part === undefined ? '' : ` (${part})`}`;
}

/** The attributes that the author gave, without those that the SDK adds. */
function ownAttributes(info: WorkflowInfo, all: Record<string, unknown>): Record<string, unknown> {
  const ofSdk: Record<string, unknown> = { ...workflowLogAttributes(info), sdkComponent: 'workflow' };
  return Object.fromEntries(
    Object.entries(all).filter(
      ([name, value]) => ofSdk[name] !== value && name !== 'updateId' && name !== 'updateName',
    ),
  );
}
