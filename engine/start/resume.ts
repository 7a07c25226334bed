/** Resuming: a new operation takes over what a closed one has left, without its worker or code. */
import { defined } from '../../operations/json/defined.js';
import { LonghaulError } from '../../operations/errors.js';
import { isTerminal, type OperationRecord, type ChildRecord } from '../../operations/record.js';
import { digestOf, tokenOfResumed, workflowIdOf } from '../../operations/token.js';
import { type StartMemo, OPERATION_QUERY } from '../../operations/wire/index.js';
import { planResume, type ResumeRequest, type ClosedRun } from '../../pipelines/resume.js';
import type { Records } from '../read/records.js';
import { startMemoOf } from '../read/start-memo.js';
import { startWorkflow } from './index.js';
import { summarizeCall } from './summary.js';
import { linkTrace, originOfStart } from '../temporal/trace-calls.js';
import { QueryNotRegisteredError, type WorkflowExecutionDescription } from '@temporalio/client';
import { pageWorkflowId } from '../../pipelines/parts.js';
import { isReportedResult } from '../../operations/wire/report.js';
import { parseSignature, startDigest } from '../../operations/wire/signatures.js';
import { PIPELINE_WORKFLOW } from '../../pipelines/pipeline.js';
import type { PageResult, PipelineRun } from '../../pipelines/run.js';
import { readClosedState } from '../../platform/temporal/closed-state.js';
import { argumentsOf, decodePayloads, eventsFromEnd, hasBegun } from '../read/history.js';
import type { TemporalClient } from '../temporal/client.js';

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
    summary: summarizeCall({
      title: `${tool.replaceAll('_', ' ')}, attempt ${attempt}`,
      schema: input.pipeline.inputs,
      args: input.inputs,
      secrets: input.pipeline.secrets,
    }),
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

/** Maximum time for a worker to replay a workflow that Temporal ended, in milliseconds. */
const REPLAY_DEADLINE_MS = 20_000;
/** Events per page of history when reading page results, and the deadline of such a page in milliseconds. */
const PAGE_EVENTS = 250;
const PAGE_DEADLINE_MS = 10_000;

/**
 * Reads a closed pipeline: input from the first event, jobs from the closing memo, page results from the history. If Temporal ended the
 * pipeline, a worker has to replay it, since only the workflow knows the jobs.
 *
 * @throws LonghaulError `wrong_state` if it can't be resumed; `unavailable`; `internal` if a large value is no longer in storage
 */
async function readClosedRun(
  { temporal, signer }: Pick<Records, 'temporal' | 'signer'>,
  description: WorkflowExecutionDescription,
  memo: StartMemo,
): Promise<ClosedRun> {
  const { workflowId, runId, type } = description;
  const problem = signer.problemOf(['start', 'schedule'], workflowId, memo.signature);
  if (problem === 'other-key')
    throw new LonghaulError(
      'wrong_state',
      "the operation was started with another secret than this server's, so it can't be resumed; call the tool again",
    );
  if (!problem && type !== PIPELINE_WORKFLOW) throw notResumable(memo.tool);
  const args = await argumentsOf(temporal, { workflowId, runId });
  // A resume is signed, so it must not sign input that nobody has signed.
  if (problem || parseSignature(memo.signature)?.digest !== startDigest(type, memo, args))
    throw new LonghaulError(
      'wrong_state',
      "the operation wasn't started by Longhaul, so it can't be resumed; call the tool again",
    );
  const children = await childrenOf(temporal, description, memo.tool);
  if (!children) throw notResumable(memo.tool);
  const run = args[0] as PipelineRun;
  return { workflowId, run, children, pages: await pageResults(temporal, description, run, children) };
}

function notResumable(tool: string): LonghaulError {
  return new LonghaulError('wrong_state', `"${tool}" can't be resumed; call it again`);
}

/** Empty for a pipeline that ended before a worker took it; undefined if it can't be resumed. */
async function childrenOf(
  temporal: TemporalClient,
  description: WorkflowExecutionDescription,
  tool: string,
): Promise<ChildRecord[] | undefined> {
  const state = await readClosedState(description, temporal.storage);
  if (state?.children) return state.children;
  if (!['TERMINATED', 'TIMED_OUT'].includes(description.status.name)) return undefined;
  // Temporal refuses to query a run that no worker has taken.
  return (await hasBegun(temporal, description)) ? replayedChildren(temporal, description, tool) : [];
}

/** A worker replays a workflow that couldn't write its memo as it closed. */
async function replayedChildren(
  temporal: TemporalClient,
  { workflowId, runId }: WorkflowExecutionDescription,
  tool: string,
): Promise<ChildRecord[] | undefined> {
  try {
    const handle = (client: TemporalClient['client']) => client.workflow.getHandle(workflowId, runId);
    return (await temporal.call((client) => handle(client).query(OPERATION_QUERY), REPLAY_DEADLINE_MS))
      .children;
  } catch (error) {
    const why = 'Temporal ended the operation, so only a worker can find out where it stopped';
    if (error instanceof QueryNotRegisteredError)
      throw new LonghaulError(
        'wrong_state',
        `${why}, and its code can't: ${error.message}; call "${tool}" again`,
      );
    throw new LonghaulError(
      'unavailable',
      `${why}, and none has answered: try again while one runs, or call "${tool}" again`,
      { cause: error },
    );
  }
}

/** Results of completed pages, from the pipeline's history: Temporal keeps it for longer than the pages' own. */
async function pageResults(
  temporal: TemporalClient,
  { workflowId, runId }: WorkflowExecutionDescription,
  run: PipelineRun,
  children: ChildRecord[],
): Promise<Record<string, PageResult>> {
  const results: Record<string, PageResult> = {};
  /** Workflow ID -> name of the pages that this run has completed. */
  const own = new Map<string, string>();
  for (const { name, status, page } of children) {
    if (status !== 'completed' || page?.workflowId === undefined) continue;
    const earlier = run.resume?.pages?.[name];
    if (page.workflowId === pageWorkflowId(workflowId, name)) own.set(page.workflowId, name);
    else if (earlier) results[name] = earlier;
  }
  if (own.size === 0) return results;
  const events = eventsFromEnd(temporal, { workflowId, runId }, Infinity, PAGE_EVENTS, PAGE_DEADLINE_MS);
  for await (const { childWorkflowExecutionCompletedEventAttributes: completed } of events) {
    const id = completed?.workflowExecution?.workflowId ?? '';
    const name = own.get(id);
    if (name === undefined) continue;
    own.delete(id);
    const [result] = await decodePayloads(temporal, completed?.result?.payloads);
    results[name] = (isReportedResult(result) ? result.result : result) as PageResult;
    if (own.size === 0) break;
  }
  return results;
}
