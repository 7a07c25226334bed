/** Runs in Temporal's lists. Several runs share a workflow ID after a continue-as-new, a reset or a delete; a list shows the current one. */
import proto from '@temporalio/proto';
import { undefinedIf } from '../../operations/errors.js';
import {
  DIRECTORY_WORKFLOW,
  INBOX_WORKFLOW,
  PART_MEMO,
  SEARCH_ATTRIBUTES,
  START_MEMO,
} from '../../operations/wire/index.js';
import { NEXUS_TOOLS_WORKFLOW } from '../../operations/wire/nexus-call.js';
import { QUEUE_WORKFLOW } from '../../operations/wire/queue-wire.js';
import { DELETION_TYPE } from '../../platform/temporal/deletions.js';
import { anyOf, quote } from '../../platform/temporal/visibility-query.js';
import type { TemporalClient } from '../temporal/client.js';
import { traceCall } from '../temporal/trace-calls.js';
import type { VisibilityUse } from './visibility-budget.js';
import { NOT_CONTINUED } from './visibility-query.js';

const { WorkflowExecutionStatus } = proto.temporal.api.enums.v1;
const CONTINUED = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW;
const RUNNING = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;

const RUNS_PAGE_SIZE = 1000;

/** A run as Temporal lists and describes it. */
export type RunInfo = proto.temporal.api.workflow.v1.IWorkflowExecutionInfo;

/**
 * Drops runs that aren't current for their workflow ID. A current run that isn't listed yet replaces the listed one.
 *
 * @param keepListed also keep current runs that the list has at another position. Default: false
 * @throws LonghaulError `unavailable`
 */
export async function currentRuns(
  temporal: TemporalClient,
  infos: RunInfo[],
  keepListed = false,
): Promise<RunInfo[]> {
  const suspects = infos.filter((info) => info.status !== RUNNING || isRepeated(info, infos));
  const listed = await listedRuns(temporal, [...new Set(suspects.map(workflowIdOf))]);
  const described = new Map<string, Promise<RunInfo | undefined>>();
  const current = (workflowId: string) => {
    const description = described.get(workflowId) ?? currentRun(temporal, workflowId);
    described.set(workflowId, description);
    return description;
  };
  const shown = await Promise.all(
    infos.map(async (info) => {
      const runs = listed.get(workflowIdOf(info));
      const isOnly = !runs || (runs.size === 1 && runs.has(runIdOf(info)));
      if (isOnly && info.status !== CONTINUED) return info;
      const now = await current(workflowIdOf(info));
      if (!now || runIdOf(now) === runIdOf(info)) return now;
      // The list has the current run at its own position, if the filters match.
      return runs?.has(runIdOf(now)) && !keepListed ? undefined : now;
    }),
  );
  return [...new Set(shown)].filter((info) => info !== undefined);
}

function isRepeated(info: RunInfo, infos: RunInfo[]): boolean {
  return infos.some((other) => other !== info && workflowIdOf(other) === workflowIdOf(info));
}

/** Run IDs by workflow ID, without runs that have continued as new. */
async function listedRuns(
  temporal: TemporalClient,
  workflowIds: string[],
): Promise<Map<string, Set<string>>> {
  const runs = new Map<string, Set<string>>(workflowIds.map((workflowId) => [workflowId, new Set()]));
  if (workflowIds.length === 0) return runs;
  const query = `WorkflowId ${anyOf(workflowIds)} AND ${NOT_CONTINUED}`;
  for await (const infos of pagesOfRuns(temporal, 'rest of a list', query, RUNS_PAGE_SIZE))
    for (const info of infos) runs.get(workflowIdOf(info))?.add(runIdOf(info));
  return runs;
}

/** A page of the runs that match a visibility query. @throws LonghaulError `unavailable` */
export async function listRuns(
  temporal: TemporalClient,
  use: VisibilityUse,
  query: string,
  pageSize: number,
  from?: Uint8Array,
): Promise<{ infos: RunInfo[]; next: Uint8Array | undefined }> {
  const { executions, nextPageToken } = await temporal.callVisibility(use, (client) =>
    traceCall('ListWorkflows', 'ListWorkflowExecutions', undefined, () =>
      client.workflowService.listWorkflowExecutions({
        namespace: temporal.namespace,
        query,
        pageSize,
        nextPageToken: from,
      }),
    ),
  );
  return { infos: executions ?? [], next: nextPageToken?.length ? nextPageToken : undefined };
}

/** The runs that match a visibility query, page by page. @throws LonghaulError `unavailable` */
export async function* pagesOfRuns(
  temporal: TemporalClient,
  use: VisibilityUse,
  query: string,
  pageSize: number,
  maxPages = Infinity,
): AsyncGenerator<RunInfo[]> {
  let next: Uint8Array | undefined;
  for (let count = 0; count < maxPages; count += 1) {
    const page = await listRuns(temporal, use, query, pageSize, next);
    yield page.infos;
    next = page.next;
    if (!next) return;
  }
}

/** Counts the runs that match a visibility query. @throws LonghaulError `unavailable` */
export async function countRuns(
  temporal: TemporalClient,
  use: VisibilityUse,
  query: string,
): Promise<number> {
  const { count } = await temporal.callVisibility(use, (client) =>
    client.workflowService.countWorkflowExecutions({ namespace: temporal.namespace, query }),
  );
  return Number(count);
}

/** Counts a principal's open operations, seconds late at most; undefined without search attributes. @throws LonghaulError `unavailable` */
export async function countOpenOperations(
  temporal: TemporalClient,
  principal: string,
): Promise<number | undefined> {
  const { searchAttributes, openRuns } = await temporal.facts();
  if (!searchAttributes) return undefined;
  const query = `${SEARCH_ATTRIBUTES.principal} = ${quote(principal)} AND ${openRuns}`;
  return countRuns(temporal, 'list', query);
}

async function currentRun(temporal: TemporalClient, workflowId: string): Promise<RunInfo | undefined> {
  const { raw } = (await temporal.describe(workflowId).catch(undefinedIf('not_found'))) ?? {};
  // A reset run's own start time is the time of the reset.
  const startTime = raw?.workflowExtendedInfo?.originalStartTime;
  const info = raw?.workflowExecutionInfo;
  return info ? { ...info, ...(startTime ? { startTime } : {}) } : undefined;
}

function workflowIdOf({ execution }: RunInfo): string {
  return execution?.workflowId ?? '';
}

function runIdOf({ execution }: RunInfo): string {
  return execution?.runId ?? '';
}

const SERVICE_TYPES: readonly string[] = [
  DIRECTORY_WORKFLOW,
  INBOX_WORKFLOW,
  QUEUE_WORKFLOW,
  DELETION_TYPE,
  NEXUS_TOOLS_WORKFLOW,
];

/** Whether a run is an operation, a part of one, or a service such as the mailbox. Other child workflows have no mark. */
export function isLonghauls({ type, memo }: RunInfo): boolean {
  const keys = Object.keys(memo?.fields ?? {});
  return SERVICE_TYPES.includes(type?.name ?? '') || keys.includes(START_MEMO) || keys.includes(PART_MEMO);
}
