/**
 * Signature of the workflow's operation. Workflow code has no key: it compares what was signed with what the workflow was
 * given, and passes the signature to activities for their worker to verify.
 */
import {
  ApplicationFailure,
  defaultPayloadConverter,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { Headers } from '@temporalio/common';
import { parseSignature, startDigest } from '../../operations/wire/signatures.js';
import {
  OPERATION_ID_HEADER,
  ORIGIN_MEMO,
  SIGNATURE_HEADER,
  UNSIGNED,
  VERIFY_SCHEDULED_START_ACTIVITY,
  type OriginMemo,
  type ScheduledStart,
} from '../../operations/wire/index.js';
import { isContinued, operation, partMemo, startMemo } from './state.js';
import type { Outbound } from './trace.js';

/** Asserts that this run is what its memo claims, as far as workflow code sees. @throws ApplicationFailure `longhaul.unsigned` */
export function assertOwnStart(args: readonly unknown[]): void {
  const problem = partMemo() ? partProblem() : startProblem(args);
  if (problem !== undefined) throw ApplicationFailure.nonRetryable(problem, UNSIGNED);
}

/** Clients can set neither a workflow's parent nor its root: Temporal does. */
function partProblem(): string | undefined {
  const { parent, root } = workflowInfo();
  const { operationId } = partMemo()!;
  if (!parent)
    return `this workflow claims to be a part of the operation "${operationId}", but no workflow started it as its child`;
  if (root?.workflowId === operationId) return undefined;
  return `this workflow claims to be a part of the operation "${operationId}", but belongs to "${root?.workflowId}"`;
}

/** The worker refuses unsigned runs, unless its settings allow them. */
function startProblem(args: readonly unknown[]): string | undefined {
  const { workflowType } = workflowInfo();
  const memo = startMemo()!;
  if (memo.signature === undefined || isContinued()) return undefined;
  const signature = parseSignature(memo.signature);
  if (signature?.digest === startDigest(workflowType, memo, args)) return undefined;
  return (
    'the start was signed for another workflow type, input or memo than this one: nothing was done. Start it through the ' +
    'server, or as longhaul sign prints'
  );
}

const { [VERIFY_SCHEDULED_START_ACTIVITY]: verify } = proxyLocalActivities<
  Record<typeof VERIFY_SCHEDULED_START_ACTIVITY, (start: ScheduledStart) => Promise<string | null>>
>({ startToCloseTimeout: '10s' });

/**
 * Rejects a run before its time, or against the schedule's overlap policy, with ApplicationFailure `longhaul.unsigned`.
 *
 * @returns undefined for any start but a schedule's
 */
export function assertScheduledStart(): Promise<void> | undefined {
  const signature = partMemo() || isContinued() ? undefined : startMemo()?.signature;
  if (signature === undefined || parseSignature(signature)?.times === undefined) return undefined;
  return verify({ signature, startedMs: workflowInfo().startTime.getTime() }).then((problem) => {
    if (problem !== null) throw ApplicationFailure.nonRetryable(problem, UNSIGNED);
  });
}

/** Set in a child workflow that may outlive the operation that started it. */
export function originMemo(): OriginMemo | undefined {
  const memo = workflowInfo().memo?.[ORIGIN_MEMO] as OriginMemo | undefined;
  const { parent, root } = workflowInfo();
  return parent && memo && root?.workflowId === memo.operationId ? memo : undefined;
}

/** Memo field for a child workflow that shouldn't be a part of this operation. */
export function newOriginMemo(): Record<string, OriginMemo> {
  const { operationId, signature } = operation();
  return signature === undefined ? {} : { [ORIGIN_MEMO]: { operationId, signature } };
}

/** Headers for an activity of a workflow with an {@link OriginMemo}: its worker verifies them. */
function originHeaders({ operationId, signature }: OriginMemo): Headers {
  return {
    [OPERATION_ID_HEADER]: defaultPayloadConverter.toPayload(operationId),
    [SIGNATURE_HEADER]: defaultPayloadConverter.toPayload(signature),
  };
}

/** Interceptors of workflows with an {@link OriginMemo}: they pass the signature to activities and child workflows. */
export const ofOrigin: Outbound = {
  scheduleActivity: (input, next) => next(withOriginHeaders(input)),
  scheduleLocalActivity: (input, next) => next(withOriginHeaders(input)),
  startChildWorkflowExecution: (input, next) =>
    next({ ...input, options: { ...input.options, memo: withOrigin(input.options.memo) } }),
  continueAsNew: (input, next) =>
    next({
      ...input,
      options: { ...input.options, memo: withOrigin(input.options.memo ?? workflowInfo().memo) },
    }),
};

function withOriginHeaders<Input extends { headers: Headers }>(input: Input): Input {
  const origin = originMemo();
  return origin ? { ...input, headers: { ...input.headers, ...originHeaders(origin) } } : input;
}

function withOrigin(memo: Record<string, unknown> | undefined): Record<string, unknown> {
  return { ...memo, [ORIGIN_MEMO]: originMemo() };
}
