/**
 * The envelope: an operation as every plain tool returns it. It has structured content under a published schema, and text with the
 * same facts, since most models see only the text. Models pay for each field, so answers have only fields that say something new.
 * operation_get has all of them in its view `full`.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import type { Guard } from '../../guard.js';
import { snakeKeys } from '../../../operations/json/snake-keys.js';
import { unreadableText } from '../../../operations/errors.js';
import { ageSeconds, type OperationRecord } from '../../../operations/record.js';
import { PLAIN_FINAL_STATUSES } from '../../../operations/status-names.js';
import type { Tool } from '../../../operations/tool/index.js';
import { RETRY_AFTER_SECONDS, SERVER_STOPPING } from '../../shutdown/index.js';
import { asData } from '../../call/as-data.js';
import { questionsOf } from '../../call/elicitation.js';
import { nextActionOf, type NextAction } from './next-action.js';
import { linkOutput, type Answered, type Envelope } from './schema.js';
import { isOver, plainChildren, plainStatus } from './status.js';
import { envelopeText } from './text.js';
import {
  failureText,
  linksNotInResult,
  linksOf,
  partialLink,
  resultLink,
  resultText,
} from '../../call/results.js';
import type { WaitResult } from '../wait.js';

export { compactSchema, envelopeSchema, startedSchema, type Answered, type Envelope } from './schema.js';

/** Time beyond the estimate after which the text suggests a closer look, in seconds. */
const OVERDUE_SECONDS = 10 * 60;

export interface EnvelopeContext {
  /** The operation's tool. Undefined if this server doesn't have it. */
  tool: Tool | undefined;
  /** Why the call's wait ended. Absent without a wait. */
  reason?: WaitResult['reason'];
  /**
   * Whether the result stands for the work, so failed work is a failed call (`isError`). Default: false, for calls that
   * successfully read or change an operation.
   */
  isOutcome?: boolean;
  /** Whether repeating the call, which names the operation, is the way to look again. Default: false. */
  isPoll?: boolean;
}

export interface EnvelopeAnswer {
  output: Answered;
  text: string;
  extraContent: ContentBlock[];
}

export function answerOf(record: OperationRecord, context: EnvelopeContext): EnvelopeAnswer {
  const output = briefOf(envelopeOf(record, context), context);
  const { token, estimateSeconds = Infinity } = record;
  const text = envelopeText(output, {
    token,
    isNamed: context.isPoll === true,
    outcome: outcomeText(record, context.tool),
    isOverdue: ageSeconds(record) > estimateSeconds + OVERDUE_SECONDS,
    isResumable: context.tool?.isPipeline === true,
  });
  return { output, text, extraContent: linksOf(record) };
}

/** The answer of a call that changed an operation: what the call did, then the operation. @param fields further ones of the output */
export function answerAfter<Fields extends object>(
  engine: Guard,
  record: OperationRecord,
  done: string,
  fields: Fields,
): { output: Answered & Fields; text: string } {
  const { output, text } = answerOf(record, { tool: engine.tools.get(record.tool) });
  return { output: { ...output, ...fields }, text: [done, '', text].join('\n') };
}

/** The fields that say something new to the caller. */
function briefOf(envelope: Envelope, { reason, isPoll = false }: EnvelopeContext): Answered {
  const { token, status, cancel_requested, error_kind, next_action } = envelope;
  // While the operation is open, only operation_get's view `partial` shows it, which keeps polls small.
  if (isOver(status)) {
    const { attempt, resumed_from, result, links, error, temporal_url, partial } = envelope;
    return {
      token,
      status,
      attempt,
      resumed_from,
      result,
      links,
      error,
      temporal_url,
      partial: status === 'completed' ? undefined : partial,
    };
  }
  const isAsking = status === 'input_required';
  // After a shutdown the call may be due at another time than planned.
  const isRepeat = isPoll && !isAsking && reason !== 'stopping';
  const { attempt, resumed_from, status_message, estimate_seconds, input_required = {} } = envelope;
  return {
    token: isRepeat ? undefined : token,
    status,
    status_message: isAsking ? undefined : status_message,
    cancel_requested,
    error_kind,
    ...(isRepeat || isAsking ? {} : { estimate_seconds, attempt, resumed_from }),
    ...(Object.keys(input_required).length > 1 ? { input_required } : {}),
    next_action: next_action && briefAction(next_action, isRepeat),
  };
}

/** @param isRepeat whether the next action repeats the call, which only needs its time */
function briefAction(next: NextAction, isRepeat: boolean): NextAction {
  const { tool, args, question, check_after_seconds } = next;
  if (isRepeat) return { check_after_seconds };
  if (question) return { tool, args, question, check_after_seconds };
  // operation_get's summary has the overall status, without parts.
  return {
    tool,
    args: { token: args?.['token'] },
    check_after_seconds,
    status_path: 'status',
    terminal_statuses: [...PLAIN_FINAL_STATUSES],
  };
}

export function renderEnvelope(record: OperationRecord, context: EnvelopeContext): CallToolResult {
  const { output, text, extraContent } = answerOf(record, context);
  const isFailure =
    ['failed', 'cancelled', 'errored', 'expired'].includes(output.status) ||
    record.resultProblem !== undefined;
  return {
    content: [{ type: 'text', text }, ...extraContent],
    structuredContent: { ...output },
    ...(context.isOutcome && isFailure ? { isError: true } : {}),
  };
}

/** Undefined while the operation is open. */
function outcomeText(record: OperationRecord, tool: Tool | undefined): string | undefined {
  const { resultProblem } = record;
  if (resultProblem)
    return `${record.status}; ${unreadableText('the result', resultProblem)}.${resultProblem.retryable ? ' Try again shortly.' : ''}`;
  if (record.status === 'completed') return asData(resultText(record, tool));
  return record.error && failureText(record);
}

export function envelopeOf(record: OperationRecord, context: EnvelopeContext): Envelope {
  const { token, tool, statusMessage, stage, progress, createdAt, closedAt, estimateSeconds } = record;
  const { attempt, resumedFrom, traceId, partial, inputRequests, cancelRequestedAt } = record;
  const error = record.error ?? record.resultProblem;
  const status = plainStatus(record);
  const hasChildren = record.children !== undefined || context.tool?.isPipeline === true;
  const { reason } = context;
  // After a shutdown, the next check is due once a server has restarted.
  const next = nextActionOf(record, hasChildren, reason === 'stopping' ? RETRY_AFTER_SECONDS : 0);
  const hasResult = record.status === 'completed' && record.result !== undefined && !resultLink(record);
  const links = linksNotInResult(record, hasResult);
  return {
    token,
    tool,
    status,
    ...(cancelRequestedAt === undefined || isOver(status) ? {} : { cancel_requested: true as const }),
    ...snakeKeys({ statusMessage, stage, progress, createdAt, closedAt, estimateSeconds }),
    ...(hasChildren ? { children: plainChildren(record) } : {}),
    ...(attempt > 1 ? { attempt } : {}),
    ...snakeKeys({ resumedFrom, traceId, temporalUrl: record.temporalUrl }),
    ...(hasResult ? { result: record.result } : {}),
    ...(links.length ? { links: links.map(linkOutput) } : {}),
    error: error && { kind: error.kind, message: error.message, retryable: error.retryable },
    ...(partial === undefined || partialLink(record) ? {} : { partial }),
    ...(status === 'input_required' ? { input_required: questionsOf(inputRequests) } : {}),
    // None for work that has closed by the time that the record was read.
    error_kind: next && reason && WAIT_ENDS[reason],
    next_action: next,
  };
}

const WAIT_ENDS: Partial<Record<WaitResult['reason'], Envelope['error_kind']>> = {
  budget: 'wait_timeout',
  stopping: SERVER_STOPPING,
};

/** Adds the operation's parts to the record. While it is open, only its workflow knows them. A record without parts stays unchanged. */
export async function withParts(
  engine: Guard,
  record: OperationRecord,
  tool: Tool | undefined,
): Promise<OperationRecord> {
  const areUnknown = record.children === undefined || record.areChildrenLarge === true;
  return tool?.isPipeline && areUnknown ? engine.readLive(record.token) : record;
}
