/**
 * What plain tools say of an operation: one envelope for starting, looking, answering, cancelling and resuming, as
 * structured content under a published schema and as text that says the same, since most models see only that.
 */
import type { CallToolResult, ContentBlock, ResourceLink } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { Engine } from '../../../engine/index.js';
import type { OperationRecord } from '../../../operations/record.js';
import { check } from '../../../operations/schema.js';
import type { Tool } from '../../../operations/tool.js';
import { RETRY_AFTER_SECONDS, SERVER_STOPPING } from '../../lifecycle/shutdown.js';
import { asData } from '../../shared/as-data.js';
import { nextActionOf, type NextAction } from './next-action.js';
import type { Envelope, linkSchema } from './schema.js';
import { isOver, plainChildren, plainStatus } from './status.js';
import { envelopeText } from './text.js';
import {
  failureText,
  INLINE_RESULT_BYTES,
  linksNotInResult,
  linksOf,
  resultText,
} from '../../shared/results.js';
import type { Waited } from '../wait.js';

export { envelopeSchema, envelopeSchemaOf, type Envelope } from './schema.js';

export interface EnvelopeContext {
  /** The definition of the operation's tool, if this server has it. */
  tool: Tool | undefined;
  /** Why the call's wait has ended (`Waited.why`), if it waited. */
  why?: Waited['why'] | undefined;
  /**
   * Does the answer stand for the work itself, so that work that failed is a call that failed? Default: false: the
   * call was to look, or to change something, and it has.
   */
  isOutcome?: boolean;
}

/** An operation as a tool's answer: structured, as text that says the same, and links. */
export interface EnvelopeAnswer {
  output: Envelope;
  text: string;
  beside: ContentBlock[];
}

/** The operation as an answer, before it becomes a result. */
export function answerOf(record: OperationRecord, context: EnvelopeContext): EnvelopeAnswer {
  const { partial, ...envelope } = envelopeOf(record, context);
  // Polls would get it each time; until the end the view partial of operation_get has it.
  const isPartialShown = partial !== undefined && isOver(envelope.status) && envelope.status !== 'completed';
  return {
    output: { ...envelope, ...(isPartialShown ? { partial } : {}) },
    text: envelopeText(envelope, outcomeText(record, context.tool)),
    beside: linksOf(record),
  };
}

/** The operation as the result of a plain tool's call. */
export function renderEnvelope(record: OperationRecord, context: EnvelopeContext): CallToolResult {
  const { output, text, beside } = answerOf(record, context);
  const isFailure = ['failed', 'cancelled', 'errored', 'expired'].includes(output.status);
  return {
    content: [{ type: 'text', text }, ...beside],
    structuredContent: { ...output },
    ...(context.isOutcome && isFailure ? { isError: true } : {}),
  };
}

/** What the work has come to, as text. */
function outcomeText(record: OperationRecord, tool: Tool | undefined): string | undefined {
  if (record.status === 'completed') return asData(resultText(record, tool));
  return record.error && failureText(record);
}

/** The operation as structured content. */
export function envelopeOf(record: OperationRecord, context: EnvelopeContext): Envelope {
  const { token, tool, statusMessage, stage, progress, createdAt, closedAt, estimateSeconds } = record;
  const { attempt, resumedFrom, error, partial, inputRequests, cancelRequestedAt } = record;
  const status = plainStatus(record);
  const hasChildren = record.children !== undefined || context.tool?.isPipeline === true;
  const next = nextActionAfterWait(record, hasChildren, context);
  const hasResult = isResultShown(record, context.tool);
  const links = linksNotInResult(record, hasResult);
  return {
    token,
    tool,
    status,
    ...(statusMessage === undefined ? {} : { status_message: statusMessage }),
    ...(cancelRequestedAt === undefined || isOver(status) ? {} : { cancel_requested: true as const }),
    ...(stage === undefined ? {} : { stage }),
    ...(progress === undefined ? {} : { progress }),
    ...(hasChildren ? { children: plainChildren(record) } : {}),
    created_at: createdAt,
    ...(closedAt === undefined ? {} : { closed_at: closedAt }),
    ...(estimateSeconds === undefined ? {} : { estimate_seconds: estimateSeconds }),
    ...(attempt > 1 ? { attempt } : {}),
    ...(resumedFrom === undefined ? {} : { resumed_from: resumedFrom }),
    ...(hasResult ? { result: record.result } : {}),
    ...(links.length ? { links: links.map(linkOutput) } : {}),
    ...(error === undefined
      ? {}
      : { error: { kind: error.kind, message: error.message, retryable: error.retryable } }),
    ...(partial === undefined || isLarge(partial) ? {} : { partial }),
    ...(status === 'input_required' ? { input_required: questionsOf(inputRequests) } : {}),
    ...errorKindOf(context, next !== undefined),
    ...(next === undefined ? {} : { next_action: next }),
  };
}

/** Why a wait has ended before the work. */
function errorKindOf({ why }: EnvelopeContext, isOpen: boolean): Pick<Envelope, 'error_kind'> {
  if (why === 'budget') return { error_kind: 'wait_timeout' };
  return why === 'stopping' && isOpen ? { error_kind: SERVER_STOPPING } : {};
}

/** At a shutdown, not before a server is back. */
function nextActionAfterWait(
  record: OperationRecord,
  hasChildren: boolean,
  { why }: EnvelopeContext,
): NextAction | undefined {
  const next = nextActionOf(record, hasChildren);
  if (!next || why !== 'stopping') return next;
  return { ...next, check_after_seconds: Math.max(RETRY_AFTER_SECONDS, next.check_after_seconds) };
}

function linkOutput({ name, uri, mimeType, size }: ResourceLink): z.output<typeof linkSchema> {
  return {
    name,
    uri,
    ...(mimeType === undefined ? {} : { mime_type: mimeType }),
    ...(size === undefined ? {} : { bytes: size }),
  };
}

function questionsOf(inputRequests: OperationRecord['inputRequests']): Envelope['input_required'] {
  return Object.fromEntries(
    Object.entries(inputRequests).map(([key, { message, schema, expiresAt }]) => [
      key,
      { message, schema, ...(expiresAt === undefined ? {} : { expires_at: expiresAt }) },
    ]),
  );
}

/**
 * May the result stand in the structured content? Clients refuse a whole answer that doesn't fit its schema, and hours
 * of work with it; the text has such a result all the same.
 */
function isResultShown({ status, result }: OperationRecord, tool: Tool | undefined): boolean {
  if (status !== 'completed' || result === undefined || isLarge(result)) return false;
  return !tool?.outputSchema || check(tool.outputSchema, result, 'result').length === 0;
}

function isLarge(value: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(value) ?? '') > INLINE_RESULT_BYTES;
}

/**
 * The record with the parts of the operation, which only its workflow knows while it is open; as it is if it has none.
 *
 * @param why a wait has ended before: at a shutdown nothing more is asked, for the worker may be stopping too
 */
export async function withParts(
  engine: Engine,
  record: OperationRecord,
  tool: Tool | undefined,
  why?: Waited['why'],
): Promise<OperationRecord> {
  if (why === 'stopping') return record;
  const areUnknown = record.children === undefined || record.areChildrenLarge === true;
  return tool?.isPipeline && areUnknown ? engine.readLive(record.principal, record.token) : record;
}
