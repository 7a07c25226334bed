/** Queries for Temporal's visibility store, which lists runs of workflows. */
import proto from '@temporalio/proto';
import type { OperationStatus } from '../operations/record.js';
import { SEARCH_ATTRIBUTES } from '../operations/wire.js';
import { quote } from '../platform/visibility-query.js';

const { WorkflowExecutionStatus: Execution } = proto.temporal.api.enums.v1;
/** Runs that have continued as new are never current. */
export const NOT_CONTINUED = `ExecutionStatus != 'ContinuedAsNew'`;
/** How far lists lag behind, in milliseconds: by then a run that has continued as new has its successor listed. */
const LAG_MS = 5_000;

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

/** The query for a list of operations, without runs that have continued as new. */
export function queryOf(
  principal: string,
  filter: ListFilter,
  statusTerm = statusQuery(filter.status),
): string {
  return [
    `${SEARCH_ATTRIBUTES.principal} = ${quote(principal)}`,
    filter.tool && `${SEARCH_ATTRIBUTES.tool} = ${quote(filter.tool)}`,
    statusTerm,
    filter.session && `${SEARCH_ATTRIBUTES.session} IN (${[filter.session].flat().map(quote).join(', ')})`,
    filter.idempotencyKey && `${SEARCH_ATTRIBUTES.idempotencyKey} = ${quote(filter.idempotencyKey)}`,
    filter.createdAfter && `StartTime > '${filter.createdAfter.toISOString()}'`,
  ]
    .filter(Boolean)
    .join(' AND ');
}

/** The search attribute holds what the shell wrote; an end from outside shows only in Temporal's own status. */
export function statusOf(execution: number, attribute: Uint8Array | null | undefined): OperationStatus {
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

function statusQuery(status: ListFilter['status']): string {
  const attribute = SEARCH_ATTRIBUTES.status;
  switch (status) {
    case undefined:
      return NOT_CONTINUED;
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

/**
 * The query for runs that have continued as new just now: their successors may not be listed yet, and an operation must not
 * vanish from lists meanwhile.
 */
export function justContinuedQuery(principal: string, filter: ListFilter): string {
  const since = new Date(Date.now() - LAG_MS).toISOString();
  return queryOf(principal, filter, `ExecutionStatus = 'ContinuedAsNew' AND CloseTime > '${since}'`);
}
