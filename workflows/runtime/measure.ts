/**
 * Reports of an operation for the worker's metrics, through a sink, which writes no history. Temporal's SDK skips them during replay. A
 * workflow task that fails after its report runs again, and reports again.
 */
import { proxySinks, workflowInfo } from '@temporalio/workflow';
import type { MeasureSinks } from '../../operations/measure-sinks.js';
import { PART_MEMO, START_MEMO, type StartMemo } from '../../operations/wire.js';

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

/** When the operation was started, in milliseconds since 1970: the first of its runs. */
export function startedMs(): number | undefined {
  return ofOperation()?.startedMs;
}

/** Undefined in a part, which belongs to an operation that is counted itself. */
function ofOperation(): { tool: string; startedMs: number } | undefined {
  const { memo, startTime } = workflowInfo();
  const startMemo = memo?.[START_MEMO] as StartMemo | undefined;
  if (!startMemo || memo?.[PART_MEMO]) return undefined;
  const { tool, createdAt } = startMemo;
  return { tool, startedMs: createdAt === undefined ? startTime.getTime() : Date.parse(createdAt) };
}
