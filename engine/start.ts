/**
 * Starting an operation: one StartWorkflow, which alone decides; no look-up first, no lock of ours. A workflow that is
 * there already is told apart by the digest of its arguments.
 */
import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, type WorkflowExecutionDescription } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributePair } from '@temporalio/common';
import { boundKeepAlive } from '../operations/budgets.js';
import { LonghaulError } from '../operations/errors.js';
import type { OperationRecord } from '../operations/record.js';
import { assertClientToken, newToken, tokenOfIdempotencyKey, workflowIdOf } from '../operations/token.js';
import type { Tool } from '../operations/tool.js';
import { START_MEMO, SEARCH_ATTRIBUTES, type StartMemo } from '../operations/wire.js';
import { deletionIn } from '../platform/deletions.js';
import { complete } from './delete.js';
import { startMemoOf, type Records } from './read.js';
import { DiskFullError, type TemporalClient } from './temporal.js';

/** How much later than the tool's own deadline Temporal would end the work, in seconds. */
const BACKSTOP_SECONDS = 60;
/** Time that people may leave the work waiting before that backstop ends it, in seconds: 30 days. */
const PEOPLE_SECONDS = 30 * 24 * 3600;
/** A deletion that takes longer than this was cut off, in milliseconds. */
const DELETING_MS = 60_000;

/**
 * How long a worker may take for one workflow task, in milliseconds: so long a killed worker's task waits for the next worker.
 * As long as the SDK lets the workflow's code run without a pause (`isolateExecutionTimeout`).
 */
const WORKFLOW_TASK_TIMEOUT_MS = 5_000;

export interface StartOptions {
  /** A token of the caller's own. */
  token?: string;
  /**
   * Must the token never have been used before, not even by this same call? Only a call with the same idempotency key is
   * a repeated one then. Default: false.
   */
  isTokenNew?: boolean;
  /** The same key starts the same operation once. */
  idempotencyKey?: string;
  /** How long after closing the result shall be readable, in seconds; null for as long as possible. */
  keepAliveSeconds?: number | null;
  /** The caller's name for its session. */
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
 * @throws LonghaulError `invalid_arguments` for a token of another form, `conflict`, `expired` for a repeated start of what
 *   has expired, `unavailable`
 */
export async function startOperation(
  records: Records,
  secret: Buffer,
  start: Start,
): Promise<OperationRecord> {
  const { principal, tool, args, argumentsDigest, size, variant, estimateSeconds, options } = start;
  const token = tokenOfStart(start, secret);
  const { retentionSeconds, searchAttributes } = await records.temporal.facts();
  const record = await startWorkflow(records, {
    token,
    workflowId: workflowIdOf(principal, token, secret),
    workflow: tool.workflow,
    input: tool.toWorkflowInput(args),
    summary: tool.title,
    memo: {
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
      ...(options.isTokenNew ? { startId: startIdOf(start, secret) } : {}),
    },
    ...(options.idempotencyKey === undefined ? {} : { idempotencyKey: options.idempotencyKey }),
  });
  if (record.status === 'expired')
    throw new LonghaulError(
      'expired',
      'the operation of this token or idempotency key has expired; choose a new one',
    );
  return record;
}

/** An operation as Temporal is asked for it. */
export interface WorkflowStart {
  token: string;
  workflowId: string;
  /** Temporal's name of the workflow. */
  workflow: string;
  input: unknown;
  /** One line for Temporal's UI. */
  summary: string;
  memo: StartMemo & { createdAt: string };
  idempotencyKey?: string;
}

/**
 * @returns the record, once the operation is durable; that of the operation that is there, for a repeated start
 * @throws LonghaulError `conflict`, `unavailable`
 */
export async function startWorkflow(records: Records, start: WorkflowStart): Promise<OperationRecord> {
  const { temporal } = records;
  if (await tryStart(temporal, start)) return submitted(start);
  let found = await temporal.describe(start.workflowId);
  if (deletionIn(found)) {
    await completeOldDeletion(temporal, found);
    // The run that hides a deleted operation was terminated: of starts that race, one replaces it.
    if (await tryStart(temporal, start, 'ALLOW_DUPLICATE_FAILED_ONLY')) return submitted(start);
    found = await temporal.describe(start.workflowId);
  }
  const { token, workflowId, memo } = start;
  assertSame(found, start);
  return records.read(memo.principal, token, workflowId, found);
}

/** The record of what has just been started. */
function submitted({ token, memo }: WorkflowStart): OperationRecord {
  return {
    token,
    runId: '',
    tool: memo.tool,
    principal: memo.principal,
    createdAt: memo.createdAt,
    updatedAt: memo.createdAt,
    status: 'submitted',
    inputRequests: {},
    keepAliveSeconds: memo.keepAliveSeconds,
    attempt: memo.attempt,
    live: false,
    ...(memo.estimateSeconds === undefined ? {} : { estimateSeconds: memo.estimateSeconds }),
    ...(memo.resumedFrom === undefined ? {} : { resumedFrom: memo.resumedFrom }),
    ...(memo.requestId === undefined ? {} : { requestId: memo.requestId }),
  };
}

/** Starts a workflow. @returns false when its ID is taken, so that nothing was started */
async function tryStart(...args: Parameters<typeof callStart>): Promise<boolean> {
  try {
    await callStart(...args);
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/**
 * Completes a deletion that was cut off.
 *
 * @param deletion the run that hides the operation
 * @throws LonghaulError `unavailable` while somebody is deleting it
 */
async function completeOldDeletion(
  temporal: TemporalClient,
  deletion: WorkflowExecutionDescription,
): Promise<void> {
  if (deletion.closeTime) return;
  if (Date.now() - deletion.startTime.getTime() < DELETING_MS)
    throw new LonghaulError(
      'unavailable',
      'the operation that had this token or key is being deleted; try again shortly',
    );
  await complete(temporal, deletion);
}

function tokenOfStart({ principal, tool, options }: Start, secret: Buffer): string {
  if (options.token !== undefined) {
    assertClientToken(options.token);
    return options.token;
  }
  if (options.idempotencyKey === undefined) return newToken();
  return tokenOfIdempotencyKey(principal, tool.name, options.idempotencyKey, secret);
}

/** Distinguishes this start from others under the same token. */
function startIdOf({ principal, tool, options: { idempotencyKey } }: Start, secret: Buffer): string {
  return idempotencyKey === undefined
    ? randomUUID()
    : tokenOfIdempotencyKey(principal, tool.name, idempotencyKey, secret);
}

async function callStart(
  temporal: TemporalClient,
  operation: WorkflowStart,
  workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE_FAILED_ONLY' = 'REJECT_DUPLICATE',
): Promise<void> {
  const { memo, idempotencyKey } = operation;
  const { session, deadlineSeconds } = memo;
  const attributes: SearchAttributePair[] = [
    keyword(SEARCH_ATTRIBUTES.principal, memo.principal),
    keyword(SEARCH_ATTRIBUTES.tool, memo.tool),
    keyword(SEARCH_ATTRIBUTES.status, 'working'),
    ...(session === undefined ? [] : [keyword(SEARCH_ATTRIBUTES.session, session)]),
    ...(idempotencyKey === undefined ? [] : [keyword(SEARCH_ATTRIBUTES.idempotencyKey, idempotencyKey)]),
  ];
  const start = () =>
    temporal.call((client) =>
      client.workflow.start(operation.workflow, {
        workflowId: operation.workflowId,
        taskQueue: temporal.taskQueue,
        args: [operation.input],
        memo: { [START_MEMO]: memo },
        workflowIdConflictPolicy: 'FAIL',
        workflowIdReusePolicy,
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
        workflowExecutionTimeout: (deadlineSeconds + BACKSTOP_SECONDS + PEOPLE_SECONDS) * 1000,
        staticSummary: operation.summary,
        ...(memo.searchAttributes ? { typedSearchAttributes: attributes } : {}),
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
 * Refuses another request under the same token, and reveals nothing of the operation there. A start whose token has to be new is the
 * same one only if it is this very start, whose first answer was lost, or has the same idempotency key.
 */
function assertSame(found: WorkflowExecutionDescription, { token, memo }: WorkflowStart): void {
  try {
    const { argumentsDigest, startId } = startMemoOf(found, memo.principal);
    const isSameStart = memo.startId === undefined || startId === memo.startId;
    if (isSameStart && argumentsDigest === memo.argumentsDigest) return;
  } catch {
    // Not even an operation of this principal: the same refusal.
  }
  throw new LonghaulError(
    'conflict',
    memo.resumedFrom === undefined
      ? 'the token or idempotency key is in use by another request; choose a new one'
      : `the operation was resumed already, from another step or with other changes, as ${token}; resume that one`,
  );
}

function keyword(name: string, value: string): SearchAttributePair {
  return { key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD), value };
}
