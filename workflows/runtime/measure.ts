/**
 * Reports an operation to the worker's metrics, through a sink, which writes no history. The SDK skips sinks during replay. A
 * workflow task that fails after its report runs and reports again.
 */
import { proxySinks, workflowInfo } from '@temporalio/workflow';
import type { MeasureSinks } from '../../operations/sinks.js';
import { PART_MEMO, START_MEMO, type StartMemo } from '../../operations/wire/index.js';

const { longhaulMetrics } = proxySinks<MeasureSinks>();

export function measureClosed(status: string): void {
  const { tool, startedMs } = ofOperation() ?? {};
  if (tool !== undefined) longhaulMetrics.closed(tool, status, Date.now() - startedMs!);
}

export function measureFirstProgress(): void {
  const { tool, startedMs } = ofOperation() ?? {};
  if (tool !== undefined) longhaulMetrics.firstProgress(tool, Date.now() - startedMs!);
}

export function measureTurn(waitedMs: number): void {
  const { tool } = ofOperation() ?? {};
  if (tool !== undefined) longhaulMetrics.gotTurn(tool, waitedMs);
}

/** When the operation's first run started, in epoch milliseconds. */
export function startedMs(): number | undefined {
  return ofOperation()?.startedMs;
}

/** Undefined in a part: its operation is counted instead. */
function ofOperation(): { tool: string; startedMs: number } | undefined {
  const { memo, startTime } = workflowInfo();
  const startMemo = memo?.[START_MEMO] as StartMemo | undefined;
  if (!startMemo || memo?.[PART_MEMO]) return undefined;
  const { tool, createdAt } = startMemo;
  return { tool, startedMs: createdAt === undefined ? startTime.getTime() : Date.parse(createdAt) };
}
