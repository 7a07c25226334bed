/** Queries for Temporal's visibility store, which lists workflow runs. */
import proto from '@temporalio/proto';
import type { OperationStatus } from '../../operations/record.js';
import { SEARCH_ATTRIBUTES } from '../../operations/wire/index.js';
import { tenantPrefixOf } from '../../operations/principal.js';
import { anyOf, quote } from '../../platform/temporal/visibility-query.js';

const { WorkflowExecutionStatus: Execution } = proto.temporal.api.enums.v1;
export const NOT_CONTINUED = `ExecutionStatus != 'ContinuedAsNew'`;
/** Asks nothing. `!=` wouldn't match an attribute that isn't set. */
export const IS_WORKING = `${SEARCH_ATTRIBUTES.status} IS NULL`;
/** Maximum lag of lists, in milliseconds: by then they show the successor of a continued run. */
const LAG_MS = 5_000;

export interface ListFilter {
  /** Lists the operations of all principals in the tenant. Default: false. */
  wholeTenant?: boolean;
  tool?: string;
  /** `open`: all statuses that are not terminal. */
  status?: OperationStatus | 'open';
  session?: string | string[];
  idempotencyKey?: string;
  createdAfter?: Date;
  /** Leaves out adopted runs. Default: false. */
  withoutAdopted?: boolean;
  /** 1 to 100. Default: 50. */
  limit?: number;
  /**
   * Cursor of the previous page: continues it, with its filters. If you pass filters too, they must be the same, except `createdAfter`.
   * Open operations come first; one that closes between two pages may be on both, but none is missing.
   */
  cursor?: string;
}

/** Query for a list of operations. @param statusTerm e.g. of {@link statusQuery} */
export function listQuery(principal: string, filter: ListFilter, statusTerm: string): string {
  return [
    filter.wholeTenant
      ? `${SEARCH_ATTRIBUTES.principal} STARTS_WITH ${quote(tenantPrefixOf(principal))}`
      : `${SEARCH_ATTRIBUTES.principal} = ${quote(principal)}`,
    filter.tool && `${SEARCH_ATTRIBUTES.tool} = ${quote(filter.tool)}`,
    statusTerm,
    filter.session && `${SEARCH_ATTRIBUTES.session} ${anyOf([filter.session].flat())}`,
    filter.idempotencyKey && `${SEARCH_ATTRIBUTES.idempotencyKey} = ${quote(filter.idempotencyKey)}`,
    filter.createdAfter && `StartTime > '${filter.createdAfter.toISOString()}'`,
  ]
    .filter(Boolean)
    .join(' AND ');
}

/** The search attribute holds the runtime's status, but a termination from outside shows only in Temporal's. */
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

/** By default, leaves out runs that have continued as new. @param openRuns term for open runs */
export function statusQuery(status: ListFilter['status'], openRuns: string): string {
  const attribute = SEARCH_ATTRIBUTES.status;
  switch (status) {
    case undefined:
      return NOT_CONTINUED;
    case 'open':
      return openRuns;
    case 'completed':
      return `ExecutionStatus = 'Completed'`;
    case 'canceled':
      // Lists lack the termination reason, which decides whether it counts.
      return `ExecutionStatus IN ('Canceled', 'Terminated')`;
    case 'failed':
      return `(ExecutionStatus = 'Terminated' OR (ExecutionStatus = 'Failed' AND (${attribute} IS NULL OR ${attribute} != 'timed_out')))`;
    case 'timed_out':
      return `(ExecutionStatus IN ('TimedOut', 'Terminated') OR (ExecutionStatus = 'Failed' AND ${attribute} = 'timed_out'))`;
    case 'input_required':
      return `${openRuns} AND ${attribute} = 'input_required'`;
    default:
      return `${openRuns} AND ${IS_WORKING}`;
  }
}

/** Runs that recently continued as new: lists may lack their successors so far. @param nowMs Temporal's time, in epoch milliseconds */
export function justContinuedQuery(principal: string, filter: ListFilter, nowMs: number): string {
  const since = new Date(nowMs - LAG_MS).toISOString();
  return listQuery(principal, filter, `ExecutionStatus = 'ContinuedAsNew' AND CloseTime > '${since}'`);
}
