/**
 * Resuming: the closed operation's workflow answers a query with the input that a new one needs to continue. So the file that
 * a pipeline was made from may have changed or been removed.
 */
import { QueryNotRegisteredError, QueryRejectedError } from '@temporalio/client';
import { LonghaulError } from '../operations/errors.js';
import { isTerminal, type OperationRecord } from '../operations/record.js';
import { digestOf, tokenOfResumed, workflowIdOf } from '../operations/token.js';
import { RESUME_QUERY, type ResumePlan, type ResumeRequest, type StartMemo } from '../operations/wire.js';
import type { Signer } from '../platform/signer.js';
import { startMemoOf, type Records } from './read.js';
import { startWorkflow } from './start.js';
import type { TemporalClient } from './temporal.js';

/** Maximum time for a worker to replay the closed workflow, in milliseconds. */
const PLAN_DEADLINE_MS = 20_000;

export interface ResumeOptions {
  /** Step to resume from. Default: after the last finished step. */
  from?: string;
  /** Changed arguments, for the steps that still run. */
  changes?: Record<string, unknown>;
  /** Minimum time for which the new operation's result is kept, in seconds; bounded by Temporal's retention. */
  leastKeepAliveSeconds?: number;
}

/**
 * Resumes a closed operation as a new one.
 *
 * @param record of the operation to resume
 * @returns the new operation's record
 * @throws LonghaulError `wrong_state`, `invalid_arguments`, `conflict`, `expired`, `unavailable`
 */
export async function resumeOperation(
  records: Records,
  secret: Buffer,
  { principal, token, status, tool }: OperationRecord,
  { leastKeepAliveSeconds = 0, ...options }: ResumeOptions,
): Promise<OperationRecord> {
  const { temporal } = records;
  if (status === 'expired') throw new LonghaulError('expired', 'the operation has expired');
  if (!isTerminal(status))
    throw new LonghaulError(
      'wrong_state',
      `the operation is ${status}; only one that has ended can be resumed`,
    );
  if (status === 'completed' && options.from === undefined)
    throw new LonghaulError(
      'wrong_state',
      'the operation has completed; name a step to run it again from there',
    );
  const workflowId = workflowIdOf(principal, token, secret);
  const description = await temporal.describe(workflowId);
  const memo = startMemoOf(description, principal);
  assertSigned(records.signer, workflowId, memo);
  const input = await planOf(temporal, tool, { workflowId, ...options });
  const { progressToken: _progressToken, signature: _signature, ...kept } = memo;
  const attempt = memo.attempt + 1;
  const resumed = tokenOfResumed(principal, token, attempt, secret);
  const { searchAttributes, retentionSeconds } = await temporal.facts();
  return startWorkflow(records, {
    token: resumed,
    workflowId: workflowIdOf(principal, resumed, secret),
    workflow: description.type,
    input,
    summary: `${tool.replaceAll('_', ' ')}, attempt ${attempt}`,
    memo: {
      ...kept,
      searchAttributes,
      keepAliveSeconds: Math.max(kept.keepAliveSeconds, Math.min(leastKeepAliveSeconds, retentionSeconds)),
      attempt,
      resumedFrom: token,
      argumentsDigest: digestOf(tool, { resumed: token, ...options }, secret),
      createdAt: new Date().toISOString(),
    },
  });
}

/** A resume is signed: it must not sign for a start that nobody has signed. */
function assertSigned(signer: Signer, workflowId: string, { signature }: StartMemo): void {
  const problem = signer.problemOf(['start', 'schedule'], workflowId, signature);
  if (problem === undefined) return;
  throw new LonghaulError(
    'wrong_state',
    problem === 'other-key'
      ? "the operation was started with another secret than this server's, so it can't be resumed; call the tool again"
      : "the operation wasn't started by Longhaul, so it can't be resumed; call the tool again",
  );
}

async function planOf(temporal: TemporalClient, tool: string, request: ResumeRequest): Promise<unknown> {
  let plan: ResumePlan;
  try {
    plan = await temporal.call(
      (client) => client.workflow.getHandle(request.workflowId).query(RESUME_QUERY, request),
      PLAN_DEADLINE_MS,
    );
  } catch (error) {
    if (error instanceof QueryNotRegisteredError)
      throw new LonghaulError('wrong_state', `"${tool}" can't be resumed; call it again`);
    if (error instanceof QueryRejectedError || error instanceof LonghaulError) throw error;
    throw new LonghaulError(
      'unavailable',
      'no worker was available to report where the operation stopped; try again',
      {
        cause: error,
      },
    );
  }
  if ('problem' in plan) throw new LonghaulError('invalid_arguments', plan.problem);
  return plan.input;
}
