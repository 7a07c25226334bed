/** Calls the server's operation tools, which answer at once. */
import { logUri } from '../../mcp-server/links/resource-links.js';
import {
  ERROR_META_KEY,
  PARTS_META_KEY,
  STATUS_META_KEY,
  type PartStatuses,
} from '../../operations/wire/meta-keys.js';
import type { OperationStatus } from '../../operations/record.js';
import { STATUS_NAMES } from '../../operations/status-names.js';
import { CommandFailure } from '../failure.js';
import { EXIT } from './exit-codes.js';
import { exitCodeOfKind } from './failures.js';
import type { RequestOptions } from './connection.js';
import type { Session } from './session.js';
import { toOperationPage, toOperationSteps, type OperationPage } from './plain.js';
import {
  errorKindOf,
  type Child,
  type LogAnswer,
  type LogAnswerLine,
  type OperationSteps,
  type ToolResult,
} from './wire.js';

/** Limit for an answer: reading a closed workflow may replay it. */
const ANSWER_LIMIT_MS = 60_000;

/** A refusal from an operation tool, with its message. */
export class ToolRefusal extends CommandFailure {
  constructor(
    message: string,
    exitCode: number,
    readonly isRetryable: boolean,
  ) {
    super(message, exitCode);
  }
}

/**
 * Calls an operation tool.
 *
 * @returns its structured content, and the result's `_meta`, which has the statuses of the record
 * @throws ToolRefusal, Unreachable, RpcError
 */
export async function callOperationTool<Output extends object>(
  session: Session,
  name: string,
  args: Record<string, unknown>,
  options: RequestOptions = {},
): Promise<{ output: Output; meta: Record<string, unknown> }> {
  const { structuredContent, _meta: meta = {} } = await callBuiltinTool(session, name, args, options);
  if (typeof structuredContent !== 'object' || structuredContent === null) throw unsupportedTool(name);
  return { output: structuredContent as Output, meta };
}

/** Failure for a server whose tool of this name isn't Longhaul's. */
export function unsupportedTool(name: string): CommandFailure {
  return new CommandFailure(`the server's ${name} is missing, or is not Longhaul's`, EXIT.failed);
}

/** Calls a built-in tool. @throws ToolRefusal, Unreachable, RpcError */
export async function callBuiltinTool(
  session: Session,
  name: string,
  args: Record<string, unknown>,
  options: RequestOptions = {},
): Promise<ToolResult> {
  const result = await session.request<ToolResult>(
    'tools/call',
    { name, arguments: args },
    { limitMs: ANSWER_LIMIT_MS, ...options },
  );
  if (!result.isError) return result;
  // The following lines are advice for models.
  const text = result.content?.[0]?.text ?? '';
  const { retryable } = (result._meta?.[ERROR_META_KEY] ?? {}) as { retryable?: boolean };
  throw new ToolRefusal(text, exitCodeOfKind(errorKindOf(result)), retryable === true);
}

/** Reads the state of an operation and its parts, or one page of items. @throws ToolRefusal, Unreachable, RpcError */
export async function readSteps(
  session: Session,
  token: string,
  { page, ...options }: RequestOptions & { page?: string | undefined } = {},
): Promise<OperationSteps> {
  const args = { token, view: 'steps', step: page };
  const { output, meta } = await callOperationTool(session, 'operation_get', args, options);
  return toOperationSteps(
    output,
    meta[STATUS_META_KEY] as OperationStatus,
    (meta[PARTS_META_KEY] ?? []) as PartStatuses[],
  );
}

/** A pipeline's jobs; undefined for other operations, and from servers that don't provide them. */
export async function readChildren(session: Session, token: string): Promise<Child[] | undefined> {
  try {
    return (await readSteps(session, token)).children;
  } catch {
    return undefined;
  }
}

/** Reads a page of a log. @throws ToolRefusal, Unreachable, RpcError */
export async function readLog(
  session: Session,
  args: { token: string } & Record<string, unknown>,
  options: RequestOptions = {},
): Promise<LogAnswer> {
  const view = { ...args, view: 'logs' };
  const { output } = await callOperationTool<{ log: LogAnswer }>(session, 'operation_get', view, options);
  return output.log;
}

/** `_meta` of a log resource. */
interface LogResource {
  from?: number;
  /** Begins in the middle of line `from`. */
  is_continued?: true;
  is_at_end: boolean;
  is_complete: boolean;
  next_uri?: string;
}

/** Reads the log after a page without a pattern, in larger pages than tools give to models. @throws Unreachable, RpcError */
export async function readLogAfter(
  session: Session,
  token: string,
  { step, cursor }: LogAnswer,
  options: RequestOptions = {},
): Promise<LogAnswer> {
  const uri = `${logUri(token, step)}?cursor=${encodeURIComponent(cursor ?? '')}`;
  const { contents } = await session.request<{ contents: { text: string; _meta: object }[] }>(
    'resources/read',
    { uri },
    { limitMs: ANSWER_LIMIT_MS, ...options },
  );
  const { text, _meta } = contents[0]!;
  const { from, is_continued, next_uri, ...rest } = (_meta as { 'longhaul/log': LogResource })[
    'longhaul/log'
  ];
  const next = next_uri === undefined ? undefined : new URL(next_uri).searchParams.get('cursor');
  return {
    ...rest,
    step,
    lines: from === undefined ? [] : linesOf(text, from, is_continued === true),
    ...(typeof next === 'string' ? { cursor: next } : {}),
  };
}

/** The lines of a text. Without a final line break, the last line is unfinished. */
function linesOf(text: string, from: number, isContinued: boolean): LogAnswerLine[] {
  const lines: LogAnswerLine[] = text
    .split('\n')
    .map((line, index) => ({ number: from + index, text: line }));
  if (isContinued) lines[0]!.is_continued = true;
  if (text.endsWith('\n')) lines.pop();
  else lines.at(-1)!.is_unfinished = true;
  return lines;
}

/** Reads a page of operations. @param filter takes only statuses for lists @throws ToolRefusal, Unreachable, RpcError */
export async function listOperations(
  session: Session,
  { status, ...filter }: { status?: OperationStatus } & Record<string, unknown>,
): Promise<OperationPage> {
  const names = status === undefined ? {} : { status: STATUS_NAMES[status].plain };
  const { output, meta } = await callOperationTool(session, 'operation_list', { ...filter, ...names });
  return toOperationPage(output, meta[STATUS_META_KEY] as OperationStatus[]);
}
