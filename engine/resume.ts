/** Resuming: a new operation takes over what a closed one has left, without its worker or code. */
import { defined } from '../operations/defined.js';
import { LonghaulError } from '../operations/errors.js';
import { isTerminal, type OperationRecord } from '../operations/record.js';
import { digestOf, tokenOfResumed, workflowIdOf } from '../operations/token.js';
import type { StartMemo } from '../operations/wire.js';
import { planResume, type ResumeRequest } from '../pipelines/resume.js';
import { readClosedRun } from './closed-run.js';
import { startMemoOf, type Records } from './read.js';
import { startWorkflow } from './start.js';
import { linkTrace, originOfStart } from './trace-calls.js';

export interface ResumeOptions extends ResumeRequest {
  /** Minimum time to keep the new operation's result, in seconds; bounded by Temporal's retention. */
  leastKeepAliveSeconds?: number;
}

/**
 * Resumes a closed operation as a new one.
 *
 * @param by principal that resumes it
 * @returns the new operation's record
 * @throws LonghaulError `wrong_state`, `invalid_arguments`, `conflict`, `expired`, `unavailable`, `internal`
 */
export async function resumeOperation(
  records: Records,
  secret: Buffer,
  { principal, token, status, tool }: OperationRecord,
  by: string,
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
  const input = planResume(await readClosedRun(records, description, memo), options);
  const { progressToken: _progressToken, signature: _signature, ...others } = memo;
  const { traceparent, startRequestId: _startRequestId, createdAt: _createdAt, ...kept } = others;
  linkTrace(traceparent);
  const attempt = memo.attempt + 1;
  const resumed = tokenOfResumed(principal, token, attempt, secret);
  const { searchAttributes, retentionSeconds } = await temporal.facts();
  return startWorkflow(records, {
    token: resumed,
    workflowId: workflowIdOf(principal, resumed, secret),
    workflow: description.type,
    args: [input],
    summary: `${tool.replaceAll('_', ' ')}, attempt ${attempt}`,
    memo: {
      ...kept,
      searchAttributes,
      keepAliveSeconds: Math.max(kept.keepAliveSeconds, Math.min(leastKeepAliveSeconds, retentionSeconds)),
      attempt,
      resumedFrom: token,
      ...defined({ changedBy: changersOf(kept, by, options) }),
      argumentsDigest: digestOf(tool, { resumed: token, ...options }, secret),
      ...originOfStart(),
    },
  });
}

/** Principals that have changed arguments, besides the first operation's starter. */
function changersOf(
  { principal, changedBy = [] }: Pick<StartMemo, 'principal' | 'changedBy'>,
  by: string,
  { changes = {} }: ResumeRequest,
): string[] | undefined {
  const isNew = Object.keys(changes).length > 0 && by !== principal && !changedBy.includes(by);
  const all = isNew ? [...changedBy, by] : changedBy;
  return all.length > 0 ? all : undefined;
}
