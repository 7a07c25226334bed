/**
 * Starting an operation: one StartWorkflow, which alone decides; no look-up first, no lock of ours. A workflow that is
 * there already is told apart by the digest of its arguments.
 */
import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributePair } from '@temporalio/common';
import { boundKeepAlive } from '../operations/budgets.js';
import { LonghaulError } from '../operations/errors.js';
import type { OperationRecord } from '../operations/record.js';
import { assertClientToken, newToken, tokenOfIdempotencyKey, workflowIdOf } from '../operations/token.js';
import type { Tool } from '../operations/tool.js';
import { MARKER_MEMO, SEARCH_ATTRIBUTES, type MarkerMemo } from '../operations/wire.js';
import { deletionIn } from '../platform/deletions.js';
import { complete } from './delete.js';
import { markerOf, readOperation } from './read.js';
import { DiskFullError, type EngineTemporal } from './temporal.js';

/** How much later than the tool's own deadline Temporal would end the work, in seconds. */
const BACKSTOP_SECONDS = 60;
/** For how long people may leave the work waiting before that backstop ends it, in seconds: 30 days. */
const PEOPLE_SECONDS = 30 * 24 * 3600;
/** A deletion that takes longer than this was cut off, in milliseconds. */
const DELETING_MS = 60_000;

export interface StartOptions {
  /** A token of the caller's own. */
  token?: string;
  /** Must the token never have been used before, not even by this same call? Default: false. */
  isTokenNew?: boolean;
  /** The same key starts the same operation once. */
  idempotencyKey?: string;
  /** How long after closing the result shall be readable, in seconds; null for as long as possible. */
  keepAliveSeconds?: number | null;
  /** What the caller calls its session. */
  session?: string;
  /** What notifications of its progress shall be marked with. */
  progressToken?: string | number;
  /** ID of the call, where cancelling the call shall cancel the work. */
  requestId?: string | number;
}

interface Start {
  principal: string;
  tool: Tool;
  /** Checked, with defaults. */
  args: Record<string, unknown>;
  argumentsDigest: string;
  /** Size of the work, if it is known. */
  size: number | undefined;
  /** Kind of call that estimates tell apart; undefined for the usual one. */
  variant: string | undefined;
  estimateSeconds: number;
  options: StartOptions;
}

/**
 * @returns the record, once the operation is durable; that of the operation that is there, for a repeated start
 * @throws LonghaulError `invalid_arguments` for a token of another form, `conflict`, `unavailable`
 */
export async function startOperation(
  engine: EngineTemporal,
  secret: Buffer,
  start: Start,
): Promise<OperationRecord> {
  const { principal, tool, args, argumentsDigest, size, variant, estimateSeconds, options } = start;
  const token = tokenOfStart(start, secret);
  const { retentionSeconds, searchAttributes } = await engine.facts();
  return beginOperation(engine, {
    token,
    workflowId: workflowIdOf(principal, token, secret),
    workflow: tool.workflow,
    input: tool.toWorkflowInput(args),
    summary: tool.title,
    marker: {
      version: 1,
      tool: tool.name,
      principal,
      argumentsDigest,
      deadlineSeconds: tool.deadlineSeconds,
      keepAliveSeconds: boundKeepAlive(options.keepAliveSeconds, tool.keepAliveSeconds, retentionSeconds),
      estimateSeconds,
      ...(size === undefined ? {} : { size }),
      ...(variant === undefined ? {} : { variant }),
      searchAttributes,
      attempt: 1,
      createdAt: new Date().toISOString(),
      ...(options.session === undefined ? {} : { session: options.session }),
      ...(options.progressToken === undefined ? {} : { progressToken: options.progressToken }),
      ...(options.requestId === undefined ? {} : { requestId: options.requestId }),
      ...(options.isTokenNew ? { startId: randomUUID() } : {}),
    },
    ...(options.idempotencyKey === undefined ? {} : { idempotencyKey: options.idempotencyKey }),
  });
}

/** An operation as Temporal is asked for it. */
export interface Beginning {
  token: string;
  workflowId: string;
  /** Temporal's name of the workflow. */
  workflow: string;
  input: unknown;
  /** One line for Temporal's UI. */
  summary: string;
  marker: MarkerMemo & { createdAt: string };
  idempotencyKey?: string;
}

/**
 * @returns the record, once the operation is durable; that of the operation that is there, for a repeated start
 * @throws LonghaulError `conflict`, `unavailable`
 */
export async function beginOperation(engine: EngineTemporal, beginning: Beginning): Promise<OperationRecord> {
  const { token, workflowId, marker } = beginning;
  let isThere = await isAlreadyStarted(engine, beginning);
  // The run that hides a deleted operation was terminated: of starts that race, one replaces it.
  if (isThere && (await isDeleted(engine, workflowId)))
    isThere = await isAlreadyStarted(engine, beginning, 'ALLOW_DUPLICATE_FAILED_ONLY');
  if (isThere) {
    await assertSame(engine, beginning);
    return readOperation(engine, marker.principal, token, workflowId);
  }
  return {
    token,
    runId: '',
    tool: marker.tool,
    principal: marker.principal,
    createdAt: marker.createdAt,
    updatedAt: marker.createdAt,
    status: 'submitted',
    inputRequests: {},
    keepAliveSeconds: marker.keepAliveSeconds,
    attempt: marker.attempt,
    live: false,
    ...(marker.estimateSeconds === undefined ? {} : { estimateSeconds: marker.estimateSeconds }),
    ...(marker.resumedFrom === undefined ? {} : { resumedFrom: marker.resumedFrom }),
    ...(marker.requestId === undefined ? {} : { requestId: marker.requestId }),
  };
}

/** Starts a workflow. @returns was its ID taken, so that nothing was started? */
async function isAlreadyStarted(...args: Parameters<typeof startWorkflow>): Promise<boolean> {
  try {
    await startWorkflow(...args);
    return false;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return true;
    throw error;
  }
}

/**
 * Was the operation under this ID deleted, and all of it is gone? Completes a deletion that was cut off.
 *
 * @throws LonghaulError `unavailable` while it is being deleted
 */
async function isDeleted(engine: EngineTemporal, workflowId: string): Promise<boolean> {
  const found = await engine.call((client) => client.workflow.getHandle(workflowId).describe());
  if (!deletionIn(found)) return false;
  if (found.closeTime) return true;
  if (Date.now() - found.startTime.getTime() < DELETING_MS)
    throw new LonghaulError(
      'unavailable',
      'the operation that had this token or key is being deleted; try again shortly',
    );
  await complete(engine, found);
  return true;
}

function tokenOfStart({ principal, tool, options }: Start, secret: Buffer): string {
  if (options.token !== undefined) {
    assertClientToken(options.token);
    return options.token;
  }
  if (options.idempotencyKey === undefined) return newToken();
  return tokenOfIdempotencyKey(principal, tool.name, options.idempotencyKey, secret);
}

async function startWorkflow(
  engine: EngineTemporal,
  beginning: Beginning,
  workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE_FAILED_ONLY' = 'REJECT_DUPLICATE',
): Promise<void> {
  const { marker, idempotencyKey } = beginning;
  const { session, deadlineSeconds } = marker;
  const attributes: SearchAttributePair[] = [
    keyword(SEARCH_ATTRIBUTES.principal, marker.principal),
    keyword(SEARCH_ATTRIBUTES.tool, marker.tool),
    keyword(SEARCH_ATTRIBUTES.status, 'working'),
    ...(session === undefined ? [] : [keyword(SEARCH_ATTRIBUTES.session, session)]),
    ...(idempotencyKey === undefined ? [] : [keyword(SEARCH_ATTRIBUTES.idempotencyKey, idempotencyKey)]),
  ];
  const start = () =>
    engine.call((client) =>
      client.workflow.start(beginning.workflow, {
        workflowId: beginning.workflowId,
        taskQueue: engine.taskQueue,
        args: [beginning.input],
        memo: { [MARKER_MEMO]: marker },
        workflowIdConflictPolicy: 'FAIL',
        workflowIdReusePolicy,
        workflowExecutionTimeout: (deadlineSeconds + BACKSTOP_SECONDS + PEOPLE_SECONDS) * 1000,
        staticSummary: beginning.summary,
        ...(marker.searchAttributes ? { typedSearchAttributes: attributes } : {}),
      }),
    );
  try {
    await start();
  } catch (error) {
    // The answer may have been lost and not the start; a second one finds the first, by its digest.
    const isUnavailable = error instanceof LonghaulError && error.kind === 'unavailable';
    if (!isUnavailable || error instanceof DiskFullError) throw error;
    await start();
  }
}

/**
 * Refuses another request under the same token, without a word on what is there. A start of its own kind is the same one
 * only if it is this very start, whose first answer was lost.
 */
async function assertSame(engine: EngineTemporal, { token, workflowId, marker }: Beginning): Promise<void> {
  const description = await engine.call((client) => client.workflow.getHandle(workflowId).describe());
  try {
    const found = markerOf(description, marker.principal);
    const isSame =
      marker.startId === undefined
        ? found.argumentsDigest === marker.argumentsDigest
        : found.startId === marker.startId;
    if (isSame) return;
  } catch {
    // Not even an operation of this principal: the same refusal.
  }
  throw new LonghaulError(
    'conflict',
    marker.resumedFrom === undefined
      ? 'the token or idempotency key is in use by another request; choose a new one'
      : `the operation was resumed already, from another step or with other changes, as ${token}; resume that one`,
  );
}

function keyword(name: string, value: string): SearchAttributePair {
  return { key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD), value };
}
