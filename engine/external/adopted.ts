/** Adopted runs: the sealed token holds what a start memo would. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { LonghaulError } from '../../operations/errors.js';
import { START_MEMO, type StartMemo } from '../../operations/wire.js';
import { startOf } from '../description.js';
import type { SealedRun } from './run-tokens.js';

/** @param retentionSeconds how long closed workflows are kept @throws LonghaulError `not_found` for another execution of the workflow ID */
export function adoptedMemo(
  description: WorkflowExecutionDescription,
  { principal, tool, firstRunId }: SealedRun & { tool: string },
  retentionSeconds: number,
): StartMemo {
  if (firstRunIdOf(description) !== firstRunId) throw new LonghaulError('not_found', 'operation not found');
  const { workflowExecutionTimeout } = description.raw.executionConfig ?? {};
  return {
    ...{ version: 1, tool, principal, runtime: 'none', attempt: 1, argumentsDigest: '' },
    deadlineSeconds: Number(workflowExecutionTimeout?.seconds ?? 0),
    keepAliveSeconds: retentionSeconds,
    searchAttributes: false,
    createdAt: startOf(description).toISOString(),
  };
}

/** First run of an execution; continue-as-new, retry and reset keep it. */
export function firstRunIdOf({ raw, runId }: Pick<WorkflowExecutionDescription, 'raw' | 'runId'>): string {
  return raw.workflowExecutionInfo?.firstRunId || runId;
}

/** Whether Longhaul has started a run as an operation, by its memo. */
export function isOwnRun({ memo }: Pick<WorkflowExecutionDescription, 'memo'>): boolean {
  return memo?.[START_MEMO] !== undefined;
}
