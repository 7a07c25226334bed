/** Adopted runs in lists, after Longhaul's own operations. Each page of a tool with such a filter costs a call to visibility. */
import { undefinedIf } from '../../operations/errors.js';
import { isTerminal, type ListedOperation } from '../../operations/record.js';
import type { Tool } from '../../operations/tool/index.js';
import { START_MEMO } from '../../operations/wire/index.js';
import { quote } from '../../platform/temporal/visibility-query.js';
import { listRuns, type RunInfo } from '../list/current-runs.js';
import type { RowReader } from '../list/listed-operation.js';
import { toDate } from '../read/history.js';
import type { TemporalClient } from '../temporal/client.js';
import { NOT_CONTINUED, statusOf, type ListFilter } from '../list/visibility-query.js';
import { firstRunIdOf, adoptingTools } from './adopt.js';
import type { RunTokens } from './run-tokens.js';

export interface AdoptedFilter extends Pick<ListFilter, 'tool' | 'status'> {
  createdAfter?: string;
}

export interface AdoptedPage {
  operations: ListedOperation[];
  next: Uint8Array | undefined;
}

export interface ListingTool {
  name: string;
  type: string;
  namespace: string | undefined;
  filter: string;
}

/** Tools with such a filter, by name. */
export function listingTools(tools: Iterable<Tool>, { tool, status }: AdoptedFilter): ListingTool[] {
  // Only a query for each run would show whether it asks.
  if (status === 'input_required') return [];
  return adoptingTools(tools)
    .filter(({ name }) => tool === undefined || name === tool)
    .flatMap(({ name, external: { type, namespace, adopt } }) =>
      adopt.list === undefined ? [] : [{ name, type, namespace, filter: adopt.list }],
    )
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Lists a page of runs of a tool. @throws LonghaulError `unavailable` */
export async function listAdopted(
  { temporal: connected, principal, runTokens }: Pick<RowReader, 'temporal' | 'principal' | 'runTokens'>,
  tool: ListingTool,
  filter: AdoptedFilter,
  limit: number,
  from?: Uint8Array,
): Promise<AdoptedPage> {
  const temporal = connected.inNamespace(tool.namespace);
  const query = queryOf(tool, filter, (await temporal.facts()).openRuns);
  const { infos, next } = await listRuns(temporal, 'rest of a list', query, limit, from);
  const listed = await Promise.all(
    infos.map((info) => listedRun(temporal, runTokens, principal, tool, info)),
  );
  return { operations: listed.filter((one) => one !== undefined), next };
}

function queryOf(
  { type, filter: own }: ListingTool,
  { status, createdAfter }: AdoptedFilter,
  openRuns: string,
): string {
  return [
    `WorkflowType = ${quote(type)}`,
    `(${own})`,
    status === undefined ? NOT_CONTINUED : (CLOSED_STATUSES[status] ?? openRuns),
    createdAfter && `StartTime > '${createdAfter}'`,
  ]
    .filter(Boolean)
    .join(' AND ');
}

/** By a closed operation's status; all others are open. */
const CLOSED_STATUSES: Partial<Record<NonNullable<ListFilter['status']>, string>> = {
  completed: `ExecutionStatus = 'Completed'`,
  canceled: `ExecutionStatus = 'Canceled'`,
  failed: `ExecutionStatus IN ('Failed', 'Terminated')`,
  timed_out: `ExecutionStatus = 'TimedOut'`,
};

/** Undefined if Longhaul has started the run, or it is gone. */
async function listedRun(
  temporal: TemporalClient,
  tokens: RunTokens,
  principal: string,
  { name: tool }: ListingTool,
  info: RunInfo,
): Promise<ListedOperation | undefined> {
  if (info.memo?.fields?.[START_MEMO]) return undefined;
  const workflowId = info.execution?.workflowId ?? '';
  const firstRunId = info.firstRunId || (await describedFirstRun(temporal, workflowId));
  if (firstRunId === undefined) return undefined;
  const status = statusOf(info.status ?? 0, undefined);
  const { retentionSeconds } = await temporal.facts();
  return {
    token: tokens.tokenOf(principal, { workflowId, firstRunId, tool }),
    tool,
    status,
    createdAt: toDate(info.startTime ?? {}).toISOString(),
    keepAliveSeconds: retentionSeconds,
    ...(isTerminal(status) && info.closeTime ? { closedAt: toDate(info.closeTime).toISOString() } : {}),
  };
}

/** Some lists lack the first run. */
async function describedFirstRun(temporal: TemporalClient, workflowId: string): Promise<string | undefined> {
  const description = await temporal.describe(workflowId).catch(undefinedIf('not_found'));
  return description && firstRunIdOf(description);
}
