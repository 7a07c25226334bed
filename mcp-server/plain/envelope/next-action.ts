/** The envelope's `next_action`: which tool to call next, with which arguments, and when. Missing once the work has ended. */
import { z } from 'zod';
import { ageSeconds, type OperationRecord } from '../../../operations/record.js';
import { PLAIN_FINAL_STATUSES } from '../../../operations/status-names.js';
import { isOver, plainStatus } from './status.js';

/** Limits of `check_after_seconds`, in seconds. The upper one applies to work of up to 12 minutes. */
const SHORTEST_SECONDS = 2;
const LONGEST_SECONDS = 60;
/** Longest interval in the first half minute, when a wrong start shows, in seconds. */
const LONGEST_FIRST_SECONDS = 30;
/** Longest interval for any work, in seconds. An end or a question is noticed at most this late. */
const LONGEST_EVER_SECONDS = 600;
/** Share of the work's duration that an interval may take. */
const LONGEST_SHARE = 1 / 12;
const NO_ESTIMATE_SECONDS = 60;

export const nextActionSchema = z.object({
  tool: z.string().optional(),
  args: z.record(z.string(), z.unknown()).optional(),
  question: z
    .object({
      message: z.string(),
      schema: z.record(z.string(), z.unknown()).describe('JSON Schema of the content of the answer.'),
      expires_at: z.string().optional(),
    })
    .optional()
    .describe('The question to answer, with content as another argument.'),
  check_after_seconds: z.number(),
  status_path: z.string().optional().describe('With [*], all must be terminal.'),
  terminal_statuses: z.array(z.string()).optional(),
});

export type NextAction = z.output<typeof nextActionSchema>;

/**
 * @param hasChildren whether it has parts, i.e. jobs of a pipeline or child workflows
 * @param leastSeconds until the next check
 */
export function nextActionOf(
  record: OperationRecord,
  hasChildren: boolean,
  leastSeconds: number,
): NextAction | undefined {
  const { token, inputRequests } = record;
  const status = plainStatus(record);
  if (isOver(status)) return undefined;
  const [open] = status === 'input_required' ? Object.entries(inputRequests) : [];
  const following = {
    check_after_seconds: Math.max(leastSeconds, checkAfterSeconds(record)),
    status_path: hasChildren ? 'children[*].status' : 'status',
    terminal_statuses: [...PLAIN_FINAL_STATUSES, ...(hasChildren ? ['skipped'] : [])],
  };
  // Only the view `full` has the parts.
  const view = hasChildren ? { view: 'full' } : {};
  if (!open) return { tool: 'operation_get', args: { token, ...view }, ...following };
  const [key, { message, schema, expiresAt }] = open;
  return {
    tool: 'operation_answer',
    args: { token, key },
    question: { message, schema, expires_at: expiresAt },
    ...following,
  };
}

/**
 * When to look again: after half the remaining time, or half the elapsed time if that is more. At most a minute, or for longer work
 * a twelfth of its duration, up to 10 minutes: each look costs the model tokens.
 */
export function checkAfterSeconds(
  record: Pick<OperationRecord, 'createdAt' | 'updatedAt' | 'readAt' | 'estimateSeconds'>,
): number {
  const { estimateSeconds = NO_ESTIMATE_SECONDS } = record;
  const passed = ageSeconds(record);
  const share = Math.max(estimateSeconds, passed) * LONGEST_SHARE;
  const longest =
    passed < LONGEST_FIRST_SECONDS
      ? LONGEST_FIRST_SECONDS
      : Math.min(LONGEST_EVER_SECONDS, Math.max(LONGEST_SECONDS, share));
  const wanted = Math.max(estimateSeconds - passed, passed) / 2;
  return Math.round(Math.min(longest, Math.max(SHORTEST_SECONDS, wanted)));
}
