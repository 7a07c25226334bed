/** Lists of operations, from Temporal's visibility store. */
import { decodeMapFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import { LonghaulError } from '../operations/errors.js';
import { workedSeconds } from '../operations/estimate.js';
import type { OperationStatus } from '../operations/record.js';
import {
  MARKER_MEMO,
  SEARCH_ATTRIBUTES,
  STATE_MEMO,
  tokenOf,
  type MarkerMemo,
  type StateMemo,
} from '../operations/wire.js';
import { sealOf } from '../platform/seal.js';
import { quote } from '../platform/visibility-query.js';
import { toDate } from './history.js';
import type { EngineTemporal } from './temporal.js';

const { WorkflowExecutionStatus: Execution } = proto.temporal.api.enums.v1;
const DEFAULT_PAGE_SIZE = 50;

export interface ListFilter {
  tool?: string;
  /** `open`: all that haven't ended. */
  status?: OperationStatus | 'open';
  /** Any of several. */
  session?: string | string[];
  idempotencyKey?: string;
  createdAfter?: Date;
  /** 1 to 100. Default: 50. */
  limit?: number;
  /**
   * Of the page before: goes on behind it, with its filters. Others beside it have to be the same, but for the time.
   * Temporal lists open ones first: one that closes between two pages may come on both, and none is left out.
   */
  cursor?: string;
}

/** What a cursor carries, sealed. */
interface ListCursor {
  principal: string;
  /** Temporal's query: all filters. */
  query: string;
  /** Filters as they were given, without the time. */
  given: string;
  /** Temporal's own cursor, in base64. */
  next: string;
}

/** An operation in a list: what visibility holds of it. */
export interface ListedOperation {
  token: string;
  tool: string;
  status: OperationStatus;
  stage?: string;
  createdAt: string;
  closedAt?: string;
  /** What was thought at its start, in seconds. */
  estimateSeconds?: number;
  /** How long it took, once it is closed, people's time to answer not counted, in seconds. */
  workedSeconds?: number;
  /** Once its workflow has seen the cancel. */
  cancelRequestedAt?: string;
  /** How long after closing the result can be read, in seconds. */
  keepAliveSeconds: number;
  /** ID of the call that started it, where cancelling the call cancels the work. */
  requestId?: string | number;
}

export interface OperationPage {
  operations: ListedOperation[];
  nextCursor?: string;
}

/** @throws LonghaulError `unavailable`, `invalid_arguments` for a cursor that isn't of this list */
export async function listOperations(
  engine: EngineTemporal,
  secret: Buffer,
  principal: string,
  filter: ListFilter,
): Promise<OperationPage> {
  if (!(await engine.facts()).searchAttributes) {
    throw new LonghaulError(
      'unavailable',
      "this Temporal lacks Longhaul's search attributes, so lists don't work; tokens do",
      { retryable: false },
    );
  }
  const cursors = sealOf<ListCursor>(secret, 'list of operations');
  const cursor = filter.cursor === undefined ? undefined : cursors.open(filter.cursor);
  const given = JSON.stringify([filter.tool, filter.status, filter.session, filter.idempotencyKey]);
  if (filter.cursor !== undefined && !isOfList(cursor, principal, given)) {
    throw new LonghaulError(
      'invalid_arguments',
      'cursor: expected one from an earlier page of this list, unchanged, with the same filters or none; got another',
    );
  }
  const query = cursor?.query ?? queryOf(principal, filter);
  const { executions, nextPageToken } = await engine.call((client) =>
    client.workflowService.listWorkflowExecutions({
      namespace: engine.namespace,
      query,
      pageSize: filter.limit ?? DEFAULT_PAGE_SIZE,
      ...(cursor ? { nextPageToken: Buffer.from(cursor.next, 'base64') } : {}),
    }),
  );
  const operations = await Promise.all(
    (executions ?? []).map(async (info): Promise<ListedOperation | undefined> => {
      const memo = await decodeMapFromPayloads(engine.dataConverter, info.memo?.fields);
      const marker = memo?.[MARKER_MEMO] as MarkerMemo | undefined;
      if (marker?.principal !== principal) return undefined;
      const { stage, cancelRequestedAt, awaitedMs } = (memo?.[STATE_MEMO] as StateMemo | undefined) ?? {};
      const createdAt = marker.createdAt ?? toDate(info.startTime ?? {}).toISOString();
      const closedAt = info.closeTime && toDate(info.closeTime);
      return {
        token: tokenOf(principal, info.execution?.workflowId ?? ''),
        tool: marker.tool,
        status: statusOf(
          info.status ?? 0,
          info.searchAttributes?.indexedFields?.[SEARCH_ATTRIBUTES.status]?.data,
        ),
        createdAt,
        keepAliveSeconds: marker.keepAliveSeconds,
        ...(marker.estimateSeconds === undefined ? {} : { estimateSeconds: marker.estimateSeconds }),
        ...(stage === undefined ? {} : { stage }),
        ...(cancelRequestedAt === undefined ? {} : { cancelRequestedAt }),
        ...(marker.requestId === undefined ? {} : { requestId: marker.requestId }),
        ...(closedAt
          ? {
              closedAt: closedAt.toISOString(),
              workedSeconds: workedSeconds(new Date(createdAt), closedAt, awaitedMs),
            }
          : {}),
      };
    }),
  );
  const next = nextPageToken?.length ? Buffer.from(nextPageToken).toString('base64') : undefined;
  return {
    operations: operations.filter((one) => one !== undefined),
    ...(next === undefined
      ? {}
      : { nextCursor: cursors.seal({ principal, query, given: cursor?.given ?? given, next }) }),
  };
}

/** Filters may be left out beside a cursor, all of them at once. */
function isOfList(cursor: ListCursor | undefined, principal: string, given: string): boolean {
  return cursor?.principal === principal && (given === NO_FILTERS || given === cursor.given);
}

const NO_FILTERS = JSON.stringify([undefined, undefined, undefined, undefined]);

function queryOf(principal: string, filter: ListFilter): string {
  return [
    `${SEARCH_ATTRIBUTES.principal} = ${quote(principal)}`,
    filter.tool && `${SEARCH_ATTRIBUTES.tool} = ${quote(filter.tool)}`,
    filter.status && statusQuery(filter.status),
    filter.session && `${SEARCH_ATTRIBUTES.session} IN (${[filter.session].flat().map(quote).join(', ')})`,
    filter.idempotencyKey && `${SEARCH_ATTRIBUTES.idempotencyKey} = ${quote(filter.idempotencyKey)}`,
    filter.createdAfter && `StartTime > '${filter.createdAfter.toISOString()}'`,
  ]
    .filter(Boolean)
    .join(' AND ');
}

/** The search attribute holds what the shell wrote; an end from outside shows only in Temporal's own status. */
function statusOf(execution: number, attribute: Uint8Array | null | undefined): OperationStatus {
  const written = attribute ? (JSON.parse(Buffer.from(attribute).toString()) as OperationStatus) : 'working';
  switch (execution) {
    case Execution.WORKFLOW_EXECUTION_STATUS_COMPLETED:
      return 'completed';
    case Execution.WORKFLOW_EXECUTION_STATUS_CANCELED:
      return 'canceled';
    case Execution.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
      return 'timed_out';
    case Execution.WORKFLOW_EXECUTION_STATUS_TERMINATED:
      return 'failed';
    case Execution.WORKFLOW_EXECUTION_STATUS_FAILED:
      return written === 'timed_out' ? 'timed_out' : 'failed';
    default:
      return written;
  }
}

function statusQuery(status: OperationStatus | 'open'): string {
  const attribute = SEARCH_ATTRIBUTES.status;
  switch (status) {
    case 'open':
      return `ExecutionStatus = 'Running'`;
    case 'completed':
      return `ExecutionStatus = 'Completed'`;
    case 'canceled':
      return `ExecutionStatus = 'Canceled'`;
    case 'failed':
      return `(ExecutionStatus = 'Terminated' OR (ExecutionStatus = 'Failed' AND ${attribute} != 'timed_out'))`;
    case 'timed_out':
      return `(ExecutionStatus = 'TimedOut' OR (ExecutionStatus = 'Failed' AND ${attribute} = 'timed_out'))`;
    case 'input_required':
      return `ExecutionStatus = 'Running' AND ${attribute} = 'input_required'`;
    default:
      return `ExecutionStatus = 'Running' AND ${attribute} != 'input_required'`;
  }
}
