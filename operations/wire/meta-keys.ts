/** Longhaul's own `_meta` keys over MCP, for programs such as its command line. */
import { defined } from '../json/defined.js';
import type { AnsweredRequest, ChildStatus, OperationRecord } from '../record.js';

/**
 * In tasks of 2026-07-28 and the view `steps` of `operation_get`: the record's status (`OperationStatus`), finer than the protocol's. In
 * `operation_list`: one per operation.
 */
export const STATUS_META_KEY = 'longhaul/status';
/** In the view `steps` of `operation_get`: {@link PartStatuses} of each part. */
export const PARTS_META_KEY = 'longhaul/parts';
/** In tasks of 2026-07-28: progress in numbers, and the stage. */
export const PROGRESS_META_KEY = 'longhaul/progress';
/** Tasks of 2026-07-28: the record's `AnsweredRequest[]`. Acknowledgements of `tasks/update`: an {@link AnswerOutcome} per answer. */
export const ANSWERS_META_KEY = 'longhaul/answers';
/** In tasks, and in statuses of operation tokens and jobs: trace ID of the call that started the operation. */
export const TRACE_META_KEY = 'longhaul/trace-id';
/** In tasks and results of failed or timed-out operations: the address of the run in Temporal's UI. */
export const TEMPORAL_URL_META_KEY = 'longhaul/temporal-url';
/** In results with `isError`: the error's kind, and whether a retry may succeed. */
export const ERROR_META_KEY = 'longhaul/error';
/**
 * In calls, with the value true: a person at a command line makes the call, not a model. It keeps agents from mistakes, but is no
 * protection against programs, which can set it too.
 */
export const PERSON_META_KEY = 'longhaul/person';
/** In results with a first text for models: the same text for people. */
export const TEXT_META_KEY = 'longhaul/text';

/** In results of tools/list: a line per problem of a tool or pipeline file, which explains a missing tool. */
export const PROBLEMS_META_KEY = 'longhaul/problems';

/** Outcome of an answer, as in the record; without an ID if it was refused at once. */
export type AnswerOutcome = Pick<AnsweredRequest, 'key' | 'id' | 'state' | 'reason'>;

/** The record's statuses of a part and its steps, in order. */
export interface PartStatuses {
  status: ChildStatus;
  steps: ChildStatus[];
}

/** The trace and a failed run's address, as fields of a result's `_meta`; empty if there are none. */
export function operationMeta({ traceId, temporalUrl }: OperationRecord): Record<string, string> {
  return defined({ [TRACE_META_KEY]: traceId, [TEMPORAL_URL_META_KEY]: temporalUrl });
}

/** Like {@link operationMeta}, for results without other `_meta`. */
export function withOperationMeta(record: OperationRecord): { _meta?: Record<string, string> } {
  const meta = operationMeta(record);
  return Object.keys(meta).length === 0 ? {} : { _meta: meta };
}
