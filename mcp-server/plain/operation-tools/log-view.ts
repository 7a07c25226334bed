/** operation_get's view `logs`: a page of a step's log, or of the operation's own. */
import { z } from 'zod';
import { snakeKeys } from '../../../operations/json/snake-keys.js';
import { PAGE_LINES, PATTERN_CHARACTERS, type LogPage } from '../../../operations/wire/log-page.js';
import type { OperationRecord } from '../../../operations/record.js';
import { asData, inlineData } from '../../call/as-data.js';
import { plainChildStatus } from '../envelope/status.js';
import { callText, reference } from './operation-tool.js';

const line = z.number().int().min(1);

/** Arguments that only this view takes. */
export const logArguments = {
  step: reference
    .optional()
    .describe(
      'job/2, job/Step name, test[3]/1, a job, or "operation". Default: the running, failed or last step.',
    ),
  from_line: line.optional().describe('From 1.'),
  to_line: line.optional(),
  tail: z.number().int().min(1).max(PAGE_LINES).optional().describe('Last lines instead.'),
  pattern: z
    .string()
    .min(1)
    .max(PATTERN_CHARACTERS)
    .optional()
    .describe('Regular expression (JavaScript) that lines match.'),
  cursor: z.string().max(4000).optional().describe('Of an earlier page: continues after it.'),
};

export const logPageSchema = z.object({
  step: z.string(),
  name: z.string().optional(),
  status: z.string().optional(),
  lines: z.array(
    z.object({
      number: line,
      text: z.string(),
      is_continued: z.literal(true).optional(),
      is_unfinished: z.literal(true).optional(),
      line_bytes: z.number().int().optional(),
    }),
  ),
  cursor: z.string().optional().describe('Missing when nothing more can come.'),
  is_at_end: z.boolean(),
  is_complete: z.boolean().describe('The log grows no more.'),
  total_bytes: z.number().int(),
});

export type LogOutput = z.output<typeof logPageSchema>;
type Line = LogOutput['lines'][number];

/** @param record the step's operation */
export function logOutput({ lines, status, ...page }: LogPage, record: OperationRecord): LogOutput {
  return {
    ...snakeKeys(page),
    status: status && plainChildStatus(status, record),
    lines: lines.map(snakeKeys),
  };
}

export function logText(token: string, page: LogOutput, tail: number | undefined): string {
  const { step, name, status, lines, total_bytes } = page;
  const about = [name === undefined ? undefined : inlineData(name), status, `${total_bytes} bytes`];
  const first = lines[0];
  const isShort = tail !== undefined && first && first.number > 1 && countOf(lines) < tail;
  return [
    `${step}: ${about.filter(Boolean).join(', ')}`,
    ...(isShort ? [`(only the last ${countOf(lines)} of ${tail} lines fit a page)`] : []),
    ...(lines.length ? [asData(lines.map(lineText).join('\n'))] : []),
    '',
    continuationText(token, page),
  ].join('\n');
}

/** `7: text`; `7+: ` continues line 7; `...` stands for text omitted or not yet written. */
function lineText({ number, text, is_continued, is_unfinished, line_bytes }: Line): string {
  const note = line_bytes === undefined ? '' : ` (a part of the line's ${line_bytes} bytes)`;
  return `${number}${is_continued ? '+' : ''}: ${text}${is_unfinished ? ' ...' : ''}${note}`;
}

function continuationText(token: string, { cursor, is_at_end, is_complete, lines }: LogOutput): string {
  const none = lines.length ? '' : 'No lines here. ';
  if (cursor === undefined)
    return is_complete && is_at_end ? `${none}This is the end of the log.` : `${none}There is no more.`;
  const call = callText('operation_get', { token, view: 'logs', cursor });
  return is_at_end ? `${none}The log may still grow. To continue: ${call}` : `${none}There is more: ${call}`;
}

function countOf(lines: Line[]): number {
  return new Set(lines.map(({ number }) => number)).size;
}
