/** Start memos: they make a workflow an operation, and name its owner. Other sources name the owner where a memo can't be read. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { LonghaulError, undefinedIf } from '../../operations/errors.js';
import { isWorkflowIdOfPrincipal, workflowIdOf } from '../../operations/token.js';
import {
  ANONYMOUS,
  SEARCH_ATTRIBUTES,
  START_MEMO,
  tokenOf,
  type StartMemo,
} from '../../operations/wire/index.js';
import { isUnreadable } from '../../operations/wire/unreadable.js';
import { memoProblem, type Memo } from '../../platform/temporal/memo.js';
import { keywordIn } from '../../platform/temporal/search-attributes.js';
import { isSameId, type RunTokens, type SealedRun } from '../external/run-tokens.js';
import type { RunInfo } from '../list/current-runs.js';
import type { TemporalClient } from '../temporal/client.js';
import { toDate } from './history.js';

/**
 * @param run content of a sealed token
 * @throws LonghaulError `not_found` if it is not an operation, another principal's, or another one of the same workflow ID; `unavailable`,
 *   not retryable, if the memo can't be read
 */
export function startMemoOf(
  description: WorkflowExecutionDescription,
  principal: string,
  run?: SealedRun,
): StartMemo {
  const memo = description.memo?.[START_MEMO] as StartMemo | undefined;
  if (isUnreadable(memo) && ownsUnreadable(description, principal, run))
    throw new LonghaulError('unavailable', memoProblem(description.memo)!, { retryable: false });
  const isNamed = memo?.hasSealedToken ? run && isSameId(run.startId, memo.startId) : !run;
  if (memo?.version !== 1 || memo.principal !== principal || !isNamed)
    throw new LonghaulError('not_found', 'operation not found');
  return memo;
}

/** For reads: what is known of a start whose memo can't be read, else the memo. @throws LonghaulError `not_found`, as {@link startMemoOf} */
export async function knownStartOf(
  temporal: TemporalClient,
  description: WorkflowExecutionDescription,
  principal: string,
  run?: SealedRun,
): Promise<StartMemo> {
  const isKnown = isUnreadable(description.memo?.[START_MEMO]) && ownsUnreadable(description, principal, run);
  if (!isKnown) return startMemoOf(description, principal, run);
  return unreadableStart(temporal, description.raw.workflowExecutionInfo ?? {}, principal);
}

/** As {@link knownStartOf}, for a listed run; undefined if it is no operation, or its owner can't be known. */
export async function listedStartOf(
  temporal: TemporalClient,
  info: RunInfo,
  memo: Memo,
): Promise<StartMemo | undefined> {
  const start = memo[START_MEMO] as StartMemo | undefined;
  if (!isUnreadable(start)) return typeof start?.principal === 'string' ? start : undefined;
  const principal = keywordIn(info, SEARCH_ATTRIBUTES.principal);
  return principal === undefined ? undefined : unreadableStart(temporal, info, principal);
}

/** @param start from {@link listedStartOf} */
export function listedTokenOf(tokens: RunTokens, info: RunInfo, memo: Memo, start: StartMemo): string {
  const workflowId = info.execution?.workflowId ?? '';
  return isUnreadable(memo[START_MEMO])
    ? tokens.ofUnreadable(workflowId, start.principal)
    : tokens.ofStart(workflowId, start);
}

/** Without the search attribute, the workflow ID names the owner: nobody else has its tag. An author's own ID has none. */
function ownsUnreadable(
  { raw, workflowId }: WorkflowExecutionDescription,
  principal: string,
  run: SealedRun | undefined,
): boolean {
  const owner = keywordIn(raw.workflowExecutionInfo ?? {}, SEARCH_ATTRIBUTES.principal);
  if (owner !== undefined) return owner === principal;
  return !run && (principal !== ANONYMOUS || !isWorkflowIdOfPrincipal(workflowId));
}

async function unreadableStart(
  temporal: TemporalClient,
  info: RunInfo,
  principal: string,
): Promise<StartMemo> {
  const { retentionSeconds } = await temporal.facts();
  return {
    ...{ version: 1, principal, attempt: 1, argumentsDigest: '', searchAttributes: false },
    tool: keywordIn(info, SEARCH_ATTRIBUTES.tool) ?? info.type?.name ?? '',
    deadlineSeconds: 0,
    keepAliveSeconds: retentionSeconds,
  };
}

export interface Owner {
  principal: string;
  token: string;
}

/** Finds an operation's owner by its workflow ID, the name that others in a tenant use. */
export async function ownerOf(
  temporal: TemporalClient,
  secret: Buffer,
  workflowId: string,
): Promise<Owner | undefined> {
  const found = await temporal.describe(workflowId).catch(undefinedIf('not_found'));
  const info = found?.raw.workflowExecutionInfo ?? {};
  const { principal } = (await listedStartOf(temporal, info, found?.memo ?? {})) ?? {};
  if (principal === undefined) return undefined;
  const token = tokenOf(principal, workflowId);
  // A client could write any memo, but the workflow ID's tag is keyed.
  return workflowIdOf(principal, token, secret) === workflowId ? { principal, token } : undefined;
}

export type PendingActivity = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];

/** When a run began; for a reset run, when the original began. */
export function startOf({ raw, startTime }: WorkflowExecutionDescription): Date {
  const { originalStartTime } = raw.workflowExtendedInfo ?? {};
  return originalStartTime ? toDate(originalStartTime) : startTime;
}

/**
 * When an operation was created, ISO 8601, by Temporal's clock. The memo holds the time if the run continues others. A server that hadn't heard Temporal's
 * time yet may have written a later one, by its own clock.
 */
export function createdAtOf({ createdAt }: Pick<StartMemo, 'createdAt'>, start: Date): string {
  const isKnown = createdAt !== undefined && Date.parse(createdAt) <= start.getTime();
  return isKnown ? createdAt : start.toISOString();
}
