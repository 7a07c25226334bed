/** A row of a list: an operation, as far as its run's memo can be read. */
import proto from '@temporalio/proto';
import { workedSeconds } from '../../operations/estimate.js';
import { tenantPrefixOf } from '../../operations/principal.js';
import type { ListedOperation } from '../../operations/record.js';
import { SEARCH_ATTRIBUTES, START_MEMO } from '../../operations/wire/index.js';
import { STATE_MEMO, type StateMemo } from '../../operations/wire/state.js';
import { isUnreadable } from '../../operations/wire/unreadable.js';
import { memoProblem, readMemo } from '../../platform/temporal/memo.js';
import type { RunTokens } from '../external/run-tokens.js';
import { toDate } from '../read/history.js';
import { terminatedStatus } from '../read/terminated.js';
import { createdAtOf, listedStartOf, listedTokenOf } from '../read/start-memo.js';
import type { TemporalClient } from '../temporal/client.js';
import type { RunInfo } from './current-runs.js';
import { statusOf } from './visibility-query.js';

const { WorkflowExecutionStatus } = proto.temporal.api.enums.v1;

export interface RowReader {
  temporal: TemporalClient;
  principal: string;
  wholeTenant: boolean;
  runTokens: RunTokens;
}

/**
 * Undefined unless the workflow is an operation of this principal, or of its tenant for a list of the whole tenant.
 *
 * @throws LonghaulError `unavailable`
 */
export async function listedOperation(
  { temporal, principal, wholeTenant, runTokens }: RowReader,
  info: RunInfo,
): Promise<ListedOperation | undefined> {
  const memo = await readMemo(temporal.dataConverter, info.memo?.fields, [START_MEMO, STATE_MEMO]);
  const start = await listedStartOf(temporal, info, memo);
  if (!start) return undefined;
  const { principal: owner, tool, keepAliveSeconds, estimateSeconds, requestId } = start;
  const isOwn = owner === principal;
  if (!isOwn && !(wholeTenant && owner.startsWith(tenantPrefixOf(principal)))) return undefined;
  const state = isUnreadable(memo[STATE_MEMO]) ? {} : ((memo[STATE_MEMO] as StateMemo | undefined) ?? {});
  const { stage, cancelRequestedAt } = state;
  const createdAt = createdAtOf(start, toDate(info.startTime ?? {}));
  const isTerminated = info.status === WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_TERMINATED;
  const written = info.searchAttributes?.indexedFields?.[SEARCH_ATTRIBUTES.status]?.data;
  const closedAt = info.closeTime && toDate(info.closeTime);
  const problem = memoProblem(memo);
  return {
    token: isOwn ? listedTokenOf(runTokens, info, memo, start) : (info.execution?.workflowId ?? ''),
    ...(isOwn ? {} : { owner }),
    tool,
    status: isTerminated ? await terminatedStatus(temporal, info) : statusOf(info.status ?? 0, written),
    createdAt,
    keepAliveSeconds,
    estimateSeconds,
    stage,
    cancelRequestedAt,
    requestId,
    closedAt: closedAt?.toISOString(),
    // The state has the time for answers.
    workedSeconds:
      closedAt && problem === undefined ? workedSeconds(new Date(createdAt), closedAt, state) : undefined,
    problem,
  };
}
