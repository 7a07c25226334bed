/** Lists of operations, from Temporal's visibility store. */
import { decodeMapFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import { LonghaulError } from '../operations/errors.js';
import type { OperationStatus } from '../operations/record.js';
import {
  MARKER_MEMO,
  SEARCH_ATTRIBUTES,
  STATE_MEMO,
  tokenOf,
  type MarkerMemo,
  type StateMemo,
} from '../operations/wire.js';
import { toDate } from './history.js';
import type { EngineTemporal } from './temporal.js';

const { WorkflowExecutionStatus: Execution } = proto.temporal.api.enums.v1;
const DEFAULT_PAGE_SIZE = 50;

export interface ListFilter {
  tool?: string;
  status?: OperationStatus;
  session?: string;
  idempotencyKey?: string;
  createdAfter?: Date;
  /** 1 to 100. Default: 50. */
  limit?: number;
  /** Where the last page ended. */
  cursor?: Uint8Array;
}

/** An operation in a list: what visibility holds of it. */
export interface ListedOperation {
  token: string;
  tool: string;
  status: OperationStatus;
  stage?: string;
  createdAt: string;
  closedAt?: string;
}

export interface OperationPage {
  operations: ListedOperation[];
  nextCursor?: Uint8Array;
}

/** @throws LonghaulError `unavailable` */
export async function listOperations(
  engine: EngineTemporal,
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
  const query = [
    `${SEARCH_ATTRIBUTES.principal} = ${quote(principal)}`,
    filter.tool && `${SEARCH_ATTRIBUTES.tool} = ${quote(filter.tool)}`,
    filter.status && statusQuery(filter.status),
    filter.session && `${SEARCH_ATTRIBUTES.session} = ${quote(filter.session)}`,
    filter.idempotencyKey && `${SEARCH_ATTRIBUTES.idempotencyKey} = ${quote(filter.idempotencyKey)}`,
    filter.createdAfter && `StartTime > '${filter.createdAfter.toISOString()}'`,
  ]
    .filter(Boolean)
    .join(' AND ');
  const { executions, nextPageToken } = await engine.call((client) =>
    client.workflowService.listWorkflowExecutions({
      namespace: engine.namespace,
      query,
      pageSize: filter.limit ?? DEFAULT_PAGE_SIZE,
      ...(filter.cursor ? { nextPageToken: filter.cursor } : {}),
    }),
  );
  const operations = await Promise.all(
    (executions ?? []).map(async (info): Promise<ListedOperation | undefined> => {
      const memo = await decodeMapFromPayloads(engine.dataConverter, info.memo?.fields);
      const marker = memo?.[MARKER_MEMO] as MarkerMemo | undefined;
      if (marker?.principal !== principal) return undefined;
      const { stage } = (memo?.[STATE_MEMO] as StateMemo | undefined) ?? {};
      return {
        token: tokenOf(principal, info.execution?.workflowId ?? ''),
        tool: marker.tool,
        status: statusOf(
          info.status ?? 0,
          info.searchAttributes?.indexedFields?.[SEARCH_ATTRIBUTES.status]?.data,
        ),
        createdAt: marker.createdAt ?? toDate(info.startTime ?? {}).toISOString(),
        ...(stage === undefined ? {} : { stage }),
        ...(info.closeTime ? { closedAt: toDate(info.closeTime).toISOString() } : {}),
      };
    }),
  );
  return {
    operations: operations.filter((one) => one !== undefined),
    ...(nextPageToken?.length ? { nextCursor: nextPageToken } : {}),
  };
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

function statusQuery(status: OperationStatus): string {
  const attribute = SEARCH_ATTRIBUTES.status;
  switch (status) {
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

/** Quotes a value for a visibility query. */
export function quote(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
