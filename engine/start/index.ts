/**
 * Start of an operation. A single StartWorkflow is the only check for duplicates: no look-up first, no lock. The arguments' digest distinguishes
 * a repeated start from another request under the same token.
 */
import { WorkflowExecutionAlreadyStartedError, type WorkflowExecutionDescription } from '@temporalio/client';
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  type SearchAttributePair,
  type Priority,
} from '@temporalio/common';
import {
  boundKeepAlive,
  DEFAULT_CLEANUP_SECONDS,
  DEFAULT_INPUT_WAIT_SECONDS,
  WORKFLOW_TASK_TIMEOUT_MS,
} from '../../operations/tool/budgets.js';
import { isKind, LonghaulError, undefinedIf } from '../../operations/errors.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import type { ExternalWorkflow } from '../../operations/wire/external-workflow.js';
import type { OperationRecord } from '../../operations/record.js';
import type { Tool } from '../../operations/tool/index.js';
import { START_MEMO, SEARCH_ATTRIBUTES, type StartMemo, ANONYMOUS } from '../../operations/wire/index.js';
import { count } from '../../platform/observe/metrics/index.js';
import { deletionIn } from '../../platform/temporal/deletions.js';
import { isSearchAttributeRefusal } from '../../platform/temporal/search-attributes.js';
import type { Signer } from '../../platform/temporal/signer.js';
import { finishDeletion } from '../end/delete.js';
import { hasSealedToken, nameStart, type StartOptions } from './names.js';
import { originOfStart } from '../temporal/trace-calls.js';
import { isOpen } from '../../platform/temporal/find-workflow.js';
import { createdAtOf, startOf } from '../read/start-memo.js';
import { startedRecord, type Records } from '../read/records.js';
import { declaredOutput, withDeclaredOutput } from '../read/output.js';
import { summaryOf } from './summary.js';
import { DiskFullError, type TemporalClient } from '../temporal/client.js';
import { createHash } from 'node:crypto';

/** Age from which an open deletion counts as interrupted, in milliseconds. */
const STALE_DELETION_MS = 60_000;

interface StartRequest {
  principal: string;
  tool: Tool;
  /** Validated, with defaults. */
  args: Record<string, unknown>;
  argumentsDigest: string;
  /** Size of the work; undefined if unknown. */
  size: number | undefined;
  /** Estimate variant; undefined for the default. */
  variant: string | undefined;
  estimateSeconds: number;
  options: StartOptions;
  /** Whether the operation accepts unsigned answers. */
  operatorAnswers: boolean;
}

/**
 * Starts an operation of a tool.
 *
 * @returns the record, once the operation is durable; a repeated start gets the existing operation's
 * @throws LonghaulError `invalid_arguments` for a malformed token, `conflict`, `expired` for a repeated start of an expired operation,
 *   `busy` where the tool's queue has no room, `unavailable`
 */
export async function startOperation(
  records: Records,
  secret: Buffer,
  start: StartRequest,
): Promise<OperationRecord> {
  const { principal, tool, args, argumentsDigest, size, variant, estimateSeconds, options } = start;
  const { session, progressToken, requestId } = options;
  const { external } = tool;
  const { token, workflowId, startId } = nameStart(start, secret);
  const refusal = tool.queue && (await records.places.refusalOf(tool, principal, estimateSeconds));
  if (refusal && !(await isRepeated(records.temporal, start, workflowId))) throw refusal;
  const { retentionSeconds, searchAttributes } = await records.temporal.facts();
  const record = await startWorkflow(records, {
    token,
    workflowId,
    workflow: tool.workflow,
    args: tool.toWorkflowArguments(args),
    external,
    summary: summaryOf(tool, args),
    output: tool.outputSchema,
    memo: {
      ...memoOfTool(tool),
      principal,
      argumentsDigest,
      keepAliveSeconds: boundKeepAlive(options.keepAliveSeconds, tool.keepAliveSeconds, retentionSeconds),
      estimateSeconds,
      size,
      variant,
      searchAttributes,
      ...(start.operatorAnswers ? {} : { operatorAnswers: false }),
      session,
      progressToken,
      requestId,
      ...originOfStart(),
      startId,
      ...(hasSealedToken(external) ? { hasSealedToken: true as const } : {}),
    },
    idempotencyKey: options.idempotencyKey,
  });
  if (record.status === 'expired')
    throw new LonghaulError(
      'expired',
      'the operation of this token or idempotency key has expired; choose a new one',
    );
  return record;
}

/** Whether the call names a token or key that an operation has already. */
async function isRepeated(
  temporal: TemporalClient,
  { options }: StartRequest,
  workflowId: string,
): Promise<boolean> {
  if (options.token === undefined && options.idempotencyKey === undefined) return false;
  return (await temporal.describe(workflowId).catch(undefinedIf('not_found'))) !== undefined;
}

/** The fields of a first start's memo that the tool fixes. */
export function memoOfTool(tool: Tool) {
  const { name, deadlineSeconds, cleanupSeconds, inputWaitSeconds, priority, queue } = tool;
  const output = declaredOutput(tool.outputSchema);
  const fixed = { version: 1 as const, tool: name, deadlineSeconds, attempt: 1, output };
  // Only Temporal enforces an external workflow's deadline, and it knows no other budget.
  if (tool.external) return { ...fixed, runtime: 'none' as const };
  return { ...fixed, cleanupSeconds, inputWaitSeconds, priority, queue };
}

export interface WorkflowStart {
  token: string;
  workflowId: string;
  workflow: string;
  args: unknown[];
  /** Set if workers without Longhaul's runtime run it. */
  external?: ExternalWorkflow;
  summary: string;
  /** The tool's output. */
  output?: JsonSchema | undefined;
  memo: StartMemo;
  idempotencyKey?: string;
}

/** @returns the record, once durable; a repeated start gets the existing operation's @throws LonghaulError `conflict`, `unavailable` */
export async function startWorkflow(records: Records, request: WorkflowStart): Promise<OperationRecord> {
  const { temporal, signer } = records;
  const { isExact, nowMs } = temporal.time;
  // Undefined: the start of its run counts. Later runs of an external workflow wouldn't know it.
  const createdAt = isExact || request.external ? new Date(nowMs).toISOString() : undefined;
  const start = { ...request, memo: { ...request.memo, createdAt } };
  if (await tryStart(temporal, signer, start)) return submittedRecord(temporal, start);
  let found = await temporal.describe(start.workflowId);
  if (deletionIn(found)) {
    await completeOldDeletion(temporal, found);
    // The run that hides a deleted operation is terminated, so only one of several racing starts replaces it.
    if (await tryStart(temporal, signer, start, 'ALLOW_DUPLICATE_FAILED_ONLY'))
      return submittedRecord(temporal, start);
    found = await temporal.describe(start.workflowId);
  }
  const { token, workflowId, memo } = start;
  // An ID that the author chose may have had other executions.
  if (start.external?.id !== undefined && !isOpen(found) && !isSameStart(found, start)) {
    if (await tryStart(temporal, signer, start, 'ALLOW_DUPLICATE')) return submittedRecord(temporal, start);
    found = await temporal.describe(workflowId);
  }
  assertSameStart(found, start);
  const run = memo.hasSealedToken && {
    principal: memo.principal,
    workflowId,
    startId: memo.startId,
  };
  return records.read(memo.principal, token, { workflowId, run }, found);
}

async function submittedRecord(
  temporal: TemporalClient,
  { token, workflowId, memo }: WorkflowStart,
): Promise<OperationRecord> {
  let { createdAt } = memo;
  if (createdAt === undefined || !temporal.time.isExact) {
    const startedAt = await readStart(temporal, workflowId);
    createdAt ??= startedAt;
  }
  return {
    ...startedRecord(token, memo),
    runId: '',
    createdAt,
    updatedAt: createdAt,
    status: 'submitted',
  };
}

/** When a just-started operation was created, ISO 8601; about when, if it can't be read now. */
async function readStart(temporal: TemporalClient, workflowId: string): Promise<string> {
  const { time } = temporal;
  try {
    const description = await temporal.describe(workflowId);
    time.hasHeardNow();
    // It may already have continued as new.
    const memo = description.memo?.[START_MEMO] as StartMemo | undefined;
    return createdAtOf(memo ?? {}, startOf(description));
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    return new Date(time.nowMs).toISOString();
  }
}

/** Starts a workflow. @returns false if its ID is taken */
async function tryStart(...args: Parameters<typeof callStart>): Promise<boolean> {
  try {
    await callStart(...args);
    count('longhaul_operations_started_total', { tool: args[2].memo.tool });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

/** @param deletion the run that hides the operation @throws LonghaulError `unavailable` while the deletion may still be running */
async function completeOldDeletion(
  temporal: TemporalClient,
  deletion: WorkflowExecutionDescription,
): Promise<void> {
  if (deletion.closeTime) return;
  if ((await temporal.nowMs()) - deletion.startTime.getTime() < STALE_DELETION_MS)
    throw new LonghaulError(
      'unavailable',
      'the operation that had this token or key is being deleted; try again shortly',
    );
  await finishDeletion(temporal, deletion);
}

async function callStart(
  temporal: TemporalClient,
  signer: Signer,
  operation: WorkflowStart,
  workflowIdReusePolicy:
    'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE_FAILED_ONLY' | 'ALLOW_DUPLICATE' = 'REJECT_DUPLICATE',
): Promise<void> {
  const { workflow, workflowId, args, idempotencyKey, external } = operation;
  const memo = signer.signedMemo(workflowId, { workflowType: workflow, memo: operation.memo, args });
  const { missingAttributes } = await temporal.facts();
  const attributes = [
    keyword(SEARCH_ATTRIBUTES.principal, memo.principal),
    keyword(SEARCH_ATTRIBUTES.tool, memo.tool),
    keyword(SEARCH_ATTRIBUTES.session, memo.session),
    keyword(SEARCH_ATTRIBUTES.idempotencyKey, idempotencyKey),
  ].filter(({ key, value }) => value !== undefined && !missingAttributes.includes(key.name));
  const priority = priorityOf(memo);
  const call = external ? temporal.callPlain.bind(temporal) : temporal.call.bind(temporal);
  const start = () =>
    withDeclaredOutput(operation.output, () =>
      call((client) =>
        client.workflow.start(workflow, {
          workflowId,
          taskQueue: external?.taskQueue ?? temporal.taskQueue,
          args,
          memo: { [START_MEMO]: memo },
          workflowIdConflictPolicy: 'FAIL',
          workflowIdReusePolicy,
          ...(external ? {} : { workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS }),
          workflowExecutionTimeout: executionTimeoutMs(memo),
          staticSummary: operation.summary,
          ...(priority ? { priority } : {}),
          ...(memo.searchAttributes ? { typedSearchAttributes: attributes as SearchAttributePair[] } : {}),
        }),
      ),
    );
  try {
    await start();
  } catch (error) {
    if (memo.searchAttributes && isSearchAttributeRefusal(error)) {
      temporal.withoutSearchAttributes(error);
      const { searchAttributes } = await temporal.facts();
      return callStart(
        temporal,
        signer,
        { ...operation, memo: { ...operation.memo, searchAttributes } },
        workflowIdReusePolicy,
      );
    }
    // The start may have succeeded, with its response lost: a second start finds the first by its digest.
    const isUnavailable = isKind(error, 'unavailable');
    if (!isUnavailable || error instanceof DiskFullError) throw error;
    await start();
  }
}

/** When Temporal itself ends an operation, in milliseconds after its start. Includes the time for answers and queues. */
export function executionTimeoutMs({
  deadlineSeconds,
  cleanupSeconds,
  inputWaitSeconds,
  queue,
  runtime,
}: StartMemo): number {
  if (runtime === 'none') return deadlineSeconds * 1000;
  const beyondSeconds =
    (cleanupSeconds ?? DEFAULT_CLEANUP_SECONDS) +
    (inputWaitSeconds ?? DEFAULT_INPUT_WAIT_SECONDS) +
    (queue?.waitSeconds ?? 0);
  return (deadlineSeconds + beyondSeconds) * 1000;
}

/**
 * Rejects a different request under the same token, without details of the existing operation. A start with a new token counts as the same
 * only for a retry after a lost response, or for the same idempotency key.
 */
function assertSameStart(found: WorkflowExecutionDescription, start: WorkflowStart): void {
  if (isSameStart(found, start)) return;
  const { token, memo, external, workflowId } = start;
  if (external?.id !== undefined)
    throw new LonghaulError(
      'conflict',
      `a workflow with the ID "${workflowId}" is open or was started with the same key; wait for its end`,
    );
  throw new LonghaulError(
    'conflict',
    memo.resumedFrom === undefined
      ? 'the token or idempotency key is in use by another request; choose a new one'
      : `the operation was already resumed, from another step or with other changes, as ${token}; resume that one`,
  );
}

function isSameStart(found: WorkflowExecutionDescription, { memo }: WorkflowStart): boolean {
  // Treats any other workflow alike, even another principal's operation.
  const { version, principal, argumentsDigest, startId } =
    (found.memo?.[START_MEMO] as StartMemo | undefined) ?? {};
  if (version !== 1 || principal !== memo.principal || argumentsDigest !== memo.argumentsDigest) return false;
  return memo.startId === undefined || startId === memo.startId;
}

function keyword(name: string, value: string | undefined) {
  return { key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD), value };
}

/** Maximum length of a fairness key, in bytes. */
const LONGEST_KEY = 64;

/**
 * Priority and fairness of an operation's tasks (docs.temporal.io, "Task Queue Priority and Fairness"); undefined if neither is needed.
 * Activities, child workflows and continued runs inherit them. Servers without the feature ignore the field.
 */
export function priorityOf({
  principal,
  priority,
}: Pick<StartMemo, 'principal' | 'priority'>): Priority | undefined {
  const fairnessKey = principal === ANONYMOUS ? undefined : fairnessKeyOf(principal);
  if (fairnessKey === undefined && priority === undefined) return undefined;
  return { priorityKey: priority, fairnessKey };
}

/** Principals are ASCII, since both parts are percent-encoded. */
function fairnessKeyOf(principal: string): string {
  if (principal.length <= LONGEST_KEY) return principal;
  return createHash('sha256').update(principal).digest('hex');
}
