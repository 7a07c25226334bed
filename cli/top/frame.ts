/** Lines of the screens of `longhaul top`. */
import { elapsed, statusLine } from '../terminal/status-line.js';
import { stepsTree } from '../terminal/steps-tree.js';
import { oneLine } from '../terminal/table.js';
import { padTo, truncateTo, widthOf } from '../terminal/text-width.js';
import type { LogAnswer, OperationSteps, Task } from '../client/wire.js';
import { isAsking, isQueued, type Row } from './operations.js';
import type { ScreenLine } from './screen.js';

/** Least width of the column with stage and bar. Earlier columns are dropped to make room. */
const LEAST_STATE = 30;
const TOKEN_WIDTH = 12;

export interface FrameContext {
  columns: number;
  rows: number;
  /** Counts up with each drawing; turns the spinners. */
  frame: number;
  nowMs: number;
  /** Address of the server. */
  url: string;
  /** Why the server doesn't answer; undefined while it does. */
  trouble: string | undefined;
  /** Notice in the last line. */
  notice: string | undefined;
}

export function capacity(rows: number): number {
  return Math.max(1, rows - 4);
}

/** First row on the screen, chosen to show the selected one. */
export function firstShown(selected: number, rows: number): number {
  return Math.max(0, selected - capacity(rows) + 1);
}

export function listFrame(rows: readonly Row[], selected: number, context: FrameContext): ScreenLine[] {
  const from = firstShown(selected, context.rows);
  const shown = rows.slice(from, from + capacity(context.rows));
  const widths = widthsOf(rows, context.columns);
  const lines = shown.map((row, index) => {
    const line = rowLine(row, widths, context);
    return from + index === selected ? { selected: line } : line;
  });
  const empty = rows.length === 0 && context.trouble === undefined ? ['', '  No operation is open.'] : [];
  return framed(headerLine(rows, context), [headLine(widths), ...lines, ...empty], context, LIST_KEYS);
}

/** One operation: steps, and the end of its log. */
export function detailsFrame(
  task: Task,
  { tool, children }: Pick<OperationSteps, 'tool' | 'children'>,
  log: LogAnswer | undefined,
  context: FrameContext,
): ScreenLine[] {
  const questions = Object.entries(task.inputRequests ?? {}).map(
    ([key, { params }]) => `question ${key}: ${oneLine(params?.message ?? '')}`,
  );
  const state = statusLine(task, context.frame, context.nowMs, context.columns);
  const steps = children?.length ? ['', ...stepsTree(children, context.nowMs).split('\n')] : [];
  const head = [`${task.taskId}  ${tool}`, state, ...questions, ...steps];
  const room = Math.max(0, context.rows - 3 - Math.min(head.length, context.rows - 8));
  const tail = (log?.lines ?? []).slice(-Math.max(0, room - 2)).map(({ text }) => text);
  const body = [...head.slice(0, Math.max(4, context.rows - 8))];
  if (tail.length) body.push('', `log of ${log?.name ?? log?.step ?? 'the operation'}`, ...tail);
  return framed(`${task.taskId}: ${task.status}`, body, context, DETAIL_KEYS);
}

const LIST_KEYS = 'up/down select   o open   a answer   c cancel   q quit';
const DETAIL_KEYS = 'esc back   a answer   c cancel   q quit';

function framed(
  head: string,
  body: ScreenLine[],
  { rows, trouble, notice }: FrameContext,
  keys: string,
): ScreenLine[] {
  const filled = body.slice(0, rows - 2);
  const last =
    notice ?? (trouble === undefined ? keys : `the server does not answer (${oneLine(trouble)}); retrying`);
  return [head, ...filled, ...Array<string>(Math.max(0, rows - 2 - filled.length)).fill(''), last];
}

function headerLine(rows: readonly Row[], { url, nowMs }: FrameContext): string {
  const hosts = [...new Set(rows.flatMap((row) => row.hosts))].sort();
  return [
    `longhaul ${new URL(url).host}`,
    `${rows.length} open`,
    `${rows.filter(isAsking).length} ask`,
    `${rows.filter(isQueued).length} queued`,
    `hosts: ${hosts.join(' ') || 'none'}`,
    new Date(nowMs).toISOString().slice(11, 19),
  ].join('   ');
}

interface Widths {
  token: number;
  tool: number;
  host: number;
}

function widthsOf(rows: readonly Row[], columns: number): Widths {
  const longest = (texts: string[], most: number) => Math.min(most, Math.max(4, ...texts.map(widthOf)));
  const widths = {
    token: TOKEN_WIDTH,
    tool: longest(
      rows.map(({ operation }) => operation.tool),
      24,
    ),
    host: longest(
      rows.map(({ hosts }) => hosts.join(' ')),
      24,
    ),
  };
  if (rows.every(({ hosts }) => hosts.length === 0)) widths.host = 0;
  const left = () => columns - widths.token - widths.tool - widths.host - 16;
  if (left() < LEAST_STATE) widths.host = 0;
  if (left() < LEAST_STATE) widths.token = 0;
  return widths;
}

function headLine({ token, tool, host }: Widths): string {
  return cells([
    ['TOKEN', token],
    ['TOOL', tool],
    ['AGE', 7],
    ['HOST', host],
  ]).concat('STATE');
}

function rowLine(row: Row, { token, tool, host }: Widths, context: FrameContext): string {
  const { operation, task, hosts } = row;
  const age = elapsed(context.nowMs - Date.parse(operation.createdAt));
  const before = cells([
    [operation.token, token],
    [operation.tool, tool],
    [age, 7],
    [hosts.join(' '), host],
  ]);
  return before + stateOf(row, task, context.columns - widthOf(before), context);
}

/** The question, or stage, bar and share. */
function stateOf(row: Row, task: Task | undefined, columns: number, { frame, nowMs }: FrameContext): string {
  if (isAsking(row)) {
    const [question] = Object.values(task?.inputRequests ?? {});
    return truncateTo(`? ${oneLine(question?.params?.message ?? 'asks a question')}`, columns - 1);
  }
  if (!task) return oneLine([row.operation.status, row.operation.stage].filter(Boolean).join(': '));
  return statusLine(task, frame, nowMs, columns);
}

function cells(columns: [text: string, width: number][]): string {
  return columns
    .filter(([, width]) => width > 0)
    .map(([text, width]) => `${padTo(truncateTo(oneLine(text), width), width)}  `)
    .join('');
}
