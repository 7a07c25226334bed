/**
 * Overdue operations: their time is up, and no worker ends them, because none is there or the workflow's code keeps failing. The
 * deadline is a timer of the workflow, so without a worker nothing happens. Readers and the server's sweep terminate them; the
 * reason in Temporal's history makes them timed out.
 */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { decodeMapFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { humanDuration } from '../operations/budgets.js';
import { LonghaulError, undefinedIf } from '../operations/errors.js';
import {
  SEARCH_ATTRIBUTES,
  START_MEMO,
  STATE_MEMO,
  type StartMemo,
  type StateMemo,
} from '../operations/wire.js';
import type { Tools } from '../platform/tools.js';
import { quote } from '../platform/visibility-query.js';
import { listRuns, type RunInfo } from './current-runs.js';
import { eventsFromEnd, toDate } from './history.js';
import type { TemporalClient } from './temporal.js';

/** Begins the reason of a termination that ends an overdue operation. */
const REASON_PREFIX = 'longhaul.timed_out: ';

/** Tolerance for the difference between the server's clock and Temporal's, in milliseconds. */
const CLOCK_TOLERANCE_MS = 10_000;

/** Runs per page of the sweep, and its maximum number of pages: each run comes with its memo. */
const PAGE_RUNS = 100;
const MAX_PAGES = 5;

type Memo = Record<string, unknown> | undefined;

/** Message of an operation that Temporal or a server has ended, since no worker did. */
export function overdueMessage(memo: Memo): string {
  const { deadlineSeconds, inputWaitSeconds } = memoOf(memo);
  const { inputRequests } = stateOf(memo);
  if (inputWaitSeconds && Object.keys(inputRequests ?? {}).length > 0)
    return `nobody answered within the ${humanDuration(inputWaitSeconds)} that people have in all`;
  const maximum = deadlineSeconds === undefined ? 'duration' : `of ${humanDuration(deadlineSeconds)}`;
  return `the work took longer than its maximum ${maximum}, and no worker ended it`;
}

/** Message in the reason of a termination; undefined if an operator gave the reason. */
export function overdueMessageIn(reason: string | null | undefined): string | undefined {
  return reason?.startsWith(REASON_PREFIX) ? reason.slice(REASON_PREFIX.length) : undefined;
}

/**
 * Whether an open run has been worked on for longer than its maximum and the cleanup's budget. Never while a person is asked: the
 * clock stands still then, or may do so, since the memo says nothing about work beside the question. A reset run counts from the
 * reset.
 *
 * @param startTime of the run
 */
function isOverdue(startTime: Date, memo: Memo): boolean {
  const { deadlineSeconds, cleanupSeconds } = memoOf(memo);
  const { inputRequests, deadlineRemainingMs, awaitedMs = 0, awaitedBeforeMs = 0 } = stateOf(memo);
  // Operations of earlier releases have no budget; Temporal's time-out ends them.
  if (deadlineSeconds === undefined || cleanupSeconds === undefined) return false;
  if (Object.keys(inputRequests ?? {}).length > 0) return false;
  const workMs = (deadlineRemainingMs ?? deadlineSeconds * 1000) + awaitedMs - awaitedBeforeMs;
  return Date.now() - startTime.getTime() > workMs + cleanupSeconds * 1000 + CLOCK_TOLERANCE_MS;
}

/**
 * Terminates the described run if it is overdue. Any number of processes may try: only this run is ended, once.
 *
 * @returns whether the run has ended, so that the description is out of date
 */
export async function endIfOverdue(
  temporal: TemporalClient,
  { workflowId, runId, status, startTime, memo }: WorkflowExecutionDescription,
): Promise<boolean> {
  if (status.name !== 'RUNNING' || !isOverdue(startTime, memo)) return false;
  try {
    await temporal.call((client) =>
      client.workflow.getHandle(workflowId, runId).terminate(REASON_PREFIX + overdueMessage(memo)),
    );
    return true;
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    // It has just ended or continued; or it can't be ended now, and is read as it is.
    return error.kind === 'not_found';
  }
}

/** Whether a terminated run in a list was ended because it was overdue: lists have no reasons. */
export async function hasTimedOut(temporal: TemporalClient, { execution }: RunInfo): Promise<boolean> {
  const { workflowId, runId } = execution ?? {};
  if (!workflowId || !runId) return false;
  for await (const event of eventsFromEnd(temporal, { workflowId, runId }, 1, 1))
    return overdueMessageIn(event.workflowExecutionTerminatedEventAttributes?.reason) !== undefined;
  return false;
}

/**
 * Ends the overdue operations of these tools that nobody reads. Costs one call to visibility, more only if it finds many.
 *
 * @returns how many it has ended
 * @throws LonghaulError `unavailable`
 */
export async function sweepOverdue(temporal: TemporalClient, tools: Tools): Promise<number> {
  const { searchAttributes } = await temporal.facts();
  const query = overdueQuery(temporal, tools);
  if (!searchAttributes || query === undefined) return 0;
  let count = 0;
  let next: Uint8Array | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const found = await listRuns(temporal, 'sweep', query, PAGE_RUNS, next);
    for (const info of found.infos) if (await endListed(temporal, info)) count += 1;
    next = found.next;
    if (!next) break;
  }
  return count;
}

/** Ends a run of the sweep's list if it is still overdue: lists lag. */
async function endListed(
  temporal: TemporalClient,
  { execution, startTime, memo }: RunInfo,
): Promise<boolean> {
  const listed = await decodeMapFromPayloads(temporal.dataConverter, memo?.fields);
  if (!isOverdue(toDate(startTime ?? {}), listed)) return false;
  const description = await temporal.describe(execution?.workflowId ?? '').catch(undefinedIf('not_found'));
  return description !== undefined && endIfOverdue(temporal, description);
}

/** Visibility query for open runs that may be overdue; undefined without tools. Temporal ends those of tools that ask nothing. */
function overdueQuery(temporal: TemporalClient, tools: Tools): string | undefined {
  const names = new Map<number, string[]>();
  for (const { name, deadlineSeconds, cleanupSeconds, inputWaitSeconds } of tools.values()) {
    if (inputWaitSeconds === 0) continue;
    const limitMs = (deadlineSeconds + cleanupSeconds) * 1000 + CLOCK_TOLERANCE_MS;
    names.set(limitMs, [...(names.get(limitMs) ?? []), name]);
  }
  if (names.size === 0) return undefined;
  const late = [...names].map(
    ([limitMs, of]) =>
      `(${SEARCH_ATTRIBUTES.tool} IN (${of.map(quote).join(', ')}) AND ` +
      `StartTime < '${new Date(Date.now() - limitMs).toISOString()}')`,
  );
  return [
    `ExecutionStatus = 'Running'`,
    `TaskQueue = ${quote(temporal.taskQueue)}`,
    `${SEARCH_ATTRIBUTES.status} = 'working'`,
    `(${late.join(' OR ')})`,
  ].join(' AND ');
}

function memoOf(memo: Memo): Partial<StartMemo> {
  return (memo?.[START_MEMO] as StartMemo | undefined) ?? {};
}

function stateOf(memo: Memo): StateMemo {
  return (memo?.[STATE_MEMO] as StateMemo | undefined) ?? {};
}
