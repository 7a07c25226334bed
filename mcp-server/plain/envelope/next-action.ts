/** `next_action` of the envelope: the tool to call next, its arguments, when, and how to recognize that the work has ended. */
import { z } from 'zod';
import type { OperationRecord } from '../../../operations/record.js';
import { PLAIN_FINAL_STATUSES } from '../../../operations/status-names.js';
import { isOver, plainStatus } from './status.js';

/** Bounds of `check_after_seconds`; the last one applies to the first check. In seconds. */
const SHORTEST_SECONDS = 2;
const LONGEST_SECONDS = 60;
const LONGEST_FIRST_SECONDS = 30;
/** Assumed duration of work without an estimate, in seconds. */
const NO_ESTIMATE_SECONDS = 60;

export const nextActionSchema = z.object({
  tool: z.string().describe('Tool to call next.'),
  args: z.record(z.string(), z.unknown()).describe('Arguments to call it with.'),
  question: z
    .object({
      message: z.string(),
      schema: z.record(z.string(), z.unknown()).describe('JSON Schema of the content of the answer.'),
    })
    .optional()
    .describe('The question, if the next action is to answer one; the answer is an additional argument.'),
  check_after_seconds: z.number().describe('When to check again, in seconds.'),
  status_path: z
    .string()
    .describe(
      "Path of the status in that tool's output. With [*] there are several, and all must be terminal.",
    ),
  terminal_statuses: z.array(z.string()).describe('Statuses that end the polling.'),
});

export type NextAction = z.output<typeof nextActionSchema>;

/**
 * The next action for an operation; undefined once it has ended.
 *
 * @param hasChildren whether it has parts, i.e. jobs of a pipeline or child workflows
 */
export function nextActionOf(record: OperationRecord, hasChildren: boolean): NextAction | undefined {
  const { token, inputRequests } = record;
  const status = plainStatus(record);
  if (isOver(status)) return undefined;
  const [open] = status === 'input_required' ? Object.entries(inputRequests) : [];
  const following = {
    check_after_seconds: checkAfterSeconds(record),
    status_path: hasChildren ? 'children[*].status' : 'status',
    terminal_statuses: [...PLAIN_FINAL_STATUSES, ...(hasChildren ? ['skipped'] : [])],
  };
  if (!open) return { tool: 'operation_get', args: { token }, ...following };
  const [key, { message, schema }] = open;
  return { tool: 'operation_answer', args: { token, key }, question: { message, schema }, ...following };
}

/** Half of the remaining time, or half of the elapsed time if that is more: soon for short work, seldom for long work. */
function checkAfterSeconds({ createdAt, estimateSeconds = NO_ESTIMATE_SECONDS }: OperationRecord): number {
  const passed = Math.max(0, (Date.now() - Date.parse(createdAt)) / 1000);
  const longest = passed < LONGEST_FIRST_SECONDS ? LONGEST_FIRST_SECONDS : LONGEST_SECONDS;
  const wanted = Math.max(estimateSeconds - passed, passed) / 2;
  return Math.round(Math.min(longest, Math.max(SHORTEST_SECONDS, wanted)));
}
