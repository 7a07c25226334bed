import { z } from 'zod';
import { PAGE_LINES, PATTERN_CHARACTERS, type LogLine, type LogPage } from '../../operations/log-page.js';
import { defineOperationTool } from './operation-tool.js';
import { token } from './fields.js';

const line = z.number().int().min(1);

const output = z.object({
  step: z.string().describe('Reference of the step, e.g. build/2.'),
  name: z.string().optional().describe('Name of the step.'),
  status: z.string().optional().describe('Status of the step.'),
  lines: z.array(
    z.object({
      number: line.describe('Number of the line.'),
      text: z.string(),
      is_continued: z.literal(true).optional().describe('Begins in the middle of the line.'),
      is_unfinished: z.literal(true).optional().describe("The line goes on, or hasn't ended yet."),
      line_bytes: z.number().int().optional().describe('Length of a line of which only a part is shown.'),
    }),
  ),
  cursor: z.string().optional().describe('Goes on behind this page; missing when nothing more can come.'),
  is_at_end: z.boolean().describe('All that the log has was read.'),
  is_complete: z.boolean().describe("The step has ended: its log doesn't grow any more."),
  total_bytes: z.number().int(),
});

export const operationLogs = defineOperationTool({
  name: 'logs',
  title: 'Read the log of an operation',
  description: [
    'Reads what a step of a pipeline has printed, while it runs and after.',
    `A page has at most ${PAGE_LINES} lines or 16 KiB; call again with its cursor for the next one, or later for what has come since.`,
    'When something failed, tail: 50 shows the end. To find something in a long log give a pattern.',
  ].join('\n'),
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    token,
    step: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .describe(
        'Which step: job/2, job/Step name, test[3]/1, or a job. Default: the one that runs, else the one that failed, else the last.',
      ),
    from_line: line.optional().describe('First line, from 1.'),
    to_line: line.optional().describe('Last line.'),
    tail: z
      .number()
      .int()
      .min(1)
      .max(PAGE_LINES)
      .optional()
      .describe('The last lines instead, as many as fit a page.'),
    pattern: z
      .string()
      .min(1)
      .max(PATTERN_CHARACTERS)
      .optional()
      .describe('Only lines in which this regular expression (JavaScript) is found.'),
    cursor: z
      .string()
      .max(4000)
      .optional()
      .describe('Of an earlier page: goes on behind it, with its step, to_line and pattern.'),
  }),
  output,
  async run(engine, principal, { token, from_line, to_line, ...query }) {
    const page = await engine.logs(principal, token, { ...query, fromLine: from_line, toLine: to_line });
    return { text: textOf(token, page, query.tail), output: outputOf(page) };
  },
});

function outputOf({ lines, isAtEnd, isComplete, totalBytes, ...rest }: LogPage): z.output<typeof output> {
  return {
    ...rest,
    lines: lines.map(({ number, text, isContinued, isUnfinished, lineBytes }) => ({
      number,
      text,
      ...(isContinued ? { is_continued: isContinued } : {}),
      ...(isUnfinished ? { is_unfinished: isUnfinished } : {}),
      ...(lineBytes === undefined ? {} : { line_bytes: lineBytes }),
    })),
    is_at_end: isAtEnd,
    is_complete: isComplete,
    total_bytes: totalBytes,
  };
}

function textOf(token: string, page: LogPage, tail: number | undefined): string {
  const { step, name, status, lines, totalBytes } = page;
  const about = [name === undefined ? undefined : JSON.stringify(name), status, `${totalBytes} bytes`];
  const first = lines[0];
  const isShort = tail !== undefined && first && first.number > 1 && countOf(lines) < tail;
  return [
    `${step}: ${about.filter(Boolean).join(', ')}`,
    ...(isShort ? [`(only the last ${countOf(lines)} of ${tail} lines fit a page)`] : []),
    ...lines.map(lineText),
    '',
    howToGoOn(token, page),
  ].join('\n');
}

/** `7: text`; `7+: ` goes on with line 7, `...` stands for what is left out or yet to come. */
function lineText({ number, text, isContinued, isUnfinished, lineBytes }: LogLine): string {
  const note = lineBytes === undefined ? '' : ` (a part of the line's ${lineBytes} bytes)`;
  return `${number}${isContinued ? '+' : ''}: ${text}${isUnfinished ? ' ...' : ''}${note}`;
}

function howToGoOn(token: string, { cursor, isAtEnd, isComplete, lines }: LogPage): string {
  const none = lines.length ? '' : 'No lines here. ';
  if (cursor === undefined)
    return isComplete && isAtEnd ? `${none}This is the end of the log.` : `${none}That is all.`;
  const call = `operation_logs ${JSON.stringify({ token, cursor })}`;
  return isAtEnd
    ? `${none}The log may still grow. What comes next: ${call}`
    : `${none}There is more: ${call}`;
}

function countOf(lines: LogLine[]): number {
  return new Set(lines.map(({ number }) => number)).size;
}
