/** Longhaul's own `_meta` keys over MCP, for programs such as its command line. */
import { defined } from './defined.js';
import type { AnsweredRequest, ChildStatus, OperationRecord } from './record.js';

/**
 * In tasks of 2026-07-28 and the view `steps` of `operation_get`: the status of the operation's record (`OperationStatus`),
 * which is finer than the protocol's status. In `operation_list`: one for each operation.
 */
export const STATUS_META_KEY = 'longhaul/status';
/** In the view `steps` of `operation_get`: {@link PartStatuses} of each part. */
export const PARTS_META_KEY = 'longhaul/parts';
/** In tasks of 2026-07-28: progress in numbers, and the stage. */
export const PROGRESS_META_KEY = 'longhaul/progress';
/**
 * In tasks of 2026-07-28: the answers of the record (`AnsweredRequest[]`). In the acknowledgement of `tasks/update`: an
 * {@link AnswerOutcome} for each answer.
 */
export const ANSWERS_META_KEY = 'longhaul/answers';
/** In tasks, and in statuses of operation tokens and jobs: ID of the trace of the call that started the operation. */
export const TRACE_META_KEY = 'longhaul/trace-id';
/** In tasks and results of operations that failed or timed out: the address of the run in Temporal's UI. */
export const TEMPORAL_URL_META_KEY = 'longhaul/temporal-url';
/** In results with `isError`: the error's kind, and whether a retry may succeed. */
export const ERROR_META_KEY = 'longhaul/error';
/**
 * In calls, with the value true: a person makes the call at a command line, not a model. Keeps agents from doing by mistake
 * what is reserved for people; not a protection against programs, which may set it too.
 */
export const PERSON_META_KEY = 'longhaul/person';
/** In results whose first text is formatted for models: the same text for people. */
export const TEXT_META_KEY = 'longhaul/text';

/** In results of tools/list: a line for each problem of a tool or pipeline file, which explains why a tool is missing. */
export const PROBLEMS_META_KEY = 'longhaul/problems';

/** Outcome of an answer, as in the record. One that was refused at once has no ID. */
export type AnswerOutcome = Pick<AnsweredRequest, 'key' | 'id' | 'state' | 'reason'>;

/** The record's statuses of a part and of its steps, in order. */
export interface PartStatuses {
  status: ChildStatus;
  steps: ChildStatus[];
}

/** The trace and the address of a failed run, as fields of a result's `_meta`; empty if the operation has neither. */
export function operationMeta({ traceId, temporalUrl }: OperationRecord): Record<string, string> {
  return defined({ [TRACE_META_KEY]: traceId, [TEMPORAL_URL_META_KEY]: temporalUrl });
}

/** As {@link operationMeta}, for results that have no other `_meta`. */
export function withOperationMeta(record: OperationRecord): { _meta?: Record<string, string> } {
  const meta = operationMeta(record);
  return Object.keys(meta).length === 0 ? {} : { _meta: meta };
}
