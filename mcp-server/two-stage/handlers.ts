/** The verbs of this face: calls that become jobs, tools/poll_result, tools/cancel_job. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Engine } from '../../engine/index.js';
import { LonghaulError } from '../../operations/errors.js';
import type { OperationRecord } from '../../operations/record.js';
import type { Tool } from '../../operations/tool.js';
import { takeIdempotencyKey } from '../shared/idempotency-key.js';
import {
  renderCancelled,
  renderError,
  renderNotFound,
  renderPolled,
  renderRefused,
  renderStarted,
  type Result,
} from './render.js';
import { isAsking } from './questions.js';
import { cancellationOf, jobIdOf } from './schemas.js';

/** Who starts a job. */
export interface JobCaller {
  principal: string;
  /** What the job is listed under; missing in an era without sessions. */
  session?: string;
  /** What MCP's own notifications of progress are marked with, if the call gave one. */
  progressToken?: string | number;
}

/** What a call asks for beside its arguments. */
export interface JobOptions {
  /** How long after the end the result shall be readable, in seconds; null for as long as possible. Default: the tool's. */
  keepAliveSeconds: number | null | undefined;
}

/**
 * tools/call. What is wrong with the call is a result that says so, and nothing starts then.
 *
 * @param started told of the job's ID as soon as it is durable
 */
export async function startJob(
  engine: Engine,
  tool: Tool,
  given: Record<string, unknown>,
  { keepAliveSeconds }: JobOptions,
  { principal, session, progressToken }: JobCaller,
  started: (jobId: string) => void,
): Promise<Result & CallToolResult> {
  try {
    const { idempotencyKey, args } = takeIdempotencyKey(given);
    const record = await engine.start(principal, tool, args, {
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(keepAliveSeconds === undefined ? {} : { keepAliveSeconds }),
      ...(session === undefined ? {} : { session }),
      ...(progressToken === undefined ? {} : { progressToken }),
    });
    // The answer goes first: until then the client knows no job of this ID.
    setImmediate(() => started(record.token));
    return renderStarted(record, tool);
  } catch (error) {
    if (error instanceof LonghaulError) return renderRefused(error);
    throw error;
  }
}

/**
 * tools/poll_result. Reading changes nothing: a result can be read until it expires.
 *
 * @param show brings the open questions of a record to the person
 * @throws ProtocolError -32602 for params of another form, -32603 while Temporal can't be reached
 */
export async function pollResult(
  engine: Engine,
  principal: string,
  params: Record<string, unknown>,
  show?: (record: OperationRecord) => Promise<void>,
): Promise<Result> {
  const jobId = jobIdOf(params);
  return ofFound(jobId, async () => {
    const record = await engine.read(principal, jobId);
    if (isAsking(record)) await show?.(record);
    return { record, result: renderPolled(record, engine.tools.get(record.tool)) };
  });
}

/**
 * tools/cancel_job: requests cancellation. A job that is being cancelled, or was, answers alike; one that ended in another
 * way stays as it is, and the answer is no success.
 *
 * @throws ProtocolError -32602 for params of another form, -32603 while Temporal can't be reached
 */
export async function cancelJob(
  engine: Engine,
  principal: string,
  params: Record<string, unknown>,
): Promise<Result> {
  const { jobId, reason } = cancellationOf(params);
  return ofFound(jobId, async () => {
    const wasOpen = await engine.cancel(principal, jobId, reason);
    const record = await engine.read(principal, jobId);
    return { record, result: renderCancelled(record, wasOpen) };
  });
}

/** The result for a job, or the one for a job that isn't there or has expired. */
async function ofFound(
  jobId: string,
  find: () => Promise<{ record: OperationRecord; result: Result }>,
): Promise<Result> {
  try {
    const { record, result } = await find();
    return record.status === 'expired' ? renderNotFound(jobId) : result;
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    if (error.kind === 'not_found') return renderNotFound(jobId);
    throw renderError(error);
  }
}
