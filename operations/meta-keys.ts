/** Keys of `_meta` that Longhaul adds to what it sends over MCP, for programs such as its own command line, and reads. */
import type { ChildStatus } from './record.js';

/**
 * In tasks of 2026-07-28 and the view `steps` of `operation_get`: the status of the operation's record (`OperationStatus`),
 * which the protocol's name doesn't always say. In `operation_list`: one for each of its operations.
 */
export const STATUS_META_KEY = 'longhaul/status';
/** In the view `steps` of `operation_get`: {@link PartStatuses} of each part. */
export const PARTS_META_KEY = 'longhaul/parts';
/** In tasks of 2026-07-28: progress in numbers, and the stage. */
export const PROGRESS_META_KEY = 'longhaul/progress';
/** In tasks of 2026-07-28: the answered input requests of the record (`AnsweredRequest[]`). */
export const ANSWERS_META_KEY = 'longhaul/answers';
/** In results with `isError`: the error's kind, and whether another try has a chance. */
export const ERROR_META_KEY = 'longhaul/error';
/**
 * In calls, with the value true: a person makes the call at a command line, and no model. So agents can't do by mistake what is
 * left to people; it is no protection from a program, which may set it too.
 */
export const PERSON_META_KEY = 'longhaul/person';
/** In results whose first text is marked up for models: the same text for people. */
export const TEXT_META_KEY = 'longhaul/text';

/** In results of tools/list: a line for each problem of a file of tools or pipelines, so that people see why a tool isn't there. */
export const PROBLEMS_META_KEY = 'longhaul/problems';

/** The record's own statuses of a part and of its steps, in their order. */
export interface PartStatuses {
  status: ChildStatus;
  steps: ChildStatus[];
}
