/** Adoption of a run that Longhaul didn't start: a sealed token makes it an operation. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { LonghaulError } from '../../operations/errors.js';
import type { AdoptionRules, ExternalWorkflow } from '../../operations/wire/external-workflow.js';
import type { Tool } from '../../operations/tool/index.js';
import { isSameId, RunTokens, type SealedRun } from './run-tokens.js';
import { START_MEMO, type StartMemo } from '../../operations/wire/index.js';
import { startOf } from '../read/start-memo.js';

export type AdoptingTool = Tool & { external: ExternalWorkflow & { adopt: AdoptionRules } };

export function adoptingTools(tools: Iterable<Tool>): AdoptingTool[] {
  return [...tools].filter((tool): tool is AdoptingTool => tool.external?.adopt !== undefined);
}

/**
 * Makes a token for a run.
 *
 * @param principal the only one who can use the token
 * @throws LonghaulError `conflict` if Longhaul has started it; `wrong_state` if no tool, or another one, may adopt its type
 */
export function adoptRun(
  description: WorkflowExecutionDescription,
  tool: AdoptingTool,
  principal: string,
  secret: Buffer,
): string {
  const { workflowId, type, memo } = description;
  const { external } = tool;
  if (type !== external.type)
    throw new LonghaulError(
      'wrong_state',
      `workflow "${workflowId}": expected the type ${external.type} of the tool "${tool.name}"; got ${type}`,
    );
  if (memo?.[START_MEMO] !== undefined)
    throw new LonghaulError(
      'conflict',
      `workflow "${workflowId}" was started by Longhaul: it is an operation already; longhaul list shows its token`,
    );
  return new RunTokens(secret).tokenOf(principal, {
    workflowId,
    firstRunId: firstRunIdOf(description),
    tool: tool.name,
  });
}

/**
 * A start memo of what the sealed token holds. A run that no tool adopts any more has its workflow type as its tool.
 *
 * @param retentionSeconds how long closed workflows are kept
 * @throws LonghaulError `not_found` for another execution of the workflow ID
 */
export function adoptedMemo(
  description: WorkflowExecutionDescription,
  principal: string,
  { tool = description.type, firstRunId }: SealedRun,
  retentionSeconds: number,
): StartMemo {
  if (!isSameId(firstRunId, firstRunIdOf(description)))
    throw new LonghaulError('not_found', 'operation not found');
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
