/** Handlers of calls that become jobs, tools/poll_result and tools/cancel_job. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Guard } from '../guard.js';
import { LonghaulError } from '../../operations/errors.js';
import type { OperationRecord } from '../../operations/record.js';
import type { Tool } from '../../operations/tool/index.js';
import { takeIdempotencyKey } from '../call/idempotency-key.js';
import {
  renderCancelled,
  renderError,
  renderNotFound,
  renderPolled,
  renderRefused,
  renderStarted,
  type Result,
  isAsking,
} from './render.js';
import { cancellationOf, jobIdOf } from './schemas.js';

export interface JobOptions {
  /** How long to keep the result after the end, in seconds. Null: as long as possible. Default: the tool's. */
  keepAliveSeconds: number | null | undefined;
  /** Scope that lists the job. Missing in revisions without sessions. */
  session?: string;
  progressToken?: string | number | undefined;
  /** Called with the job's ID once the answer was sent. */
  onStarted?: (jobId: string) => void;
}

/** tools/call. An error of the call is a result, and starts nothing. */
export async function startJob(
  engine: Guard,
  tool: Tool,
  given: Record<string, unknown>,
  { onStarted, ...job }: JobOptions,
): Promise<Result & CallToolResult> {
  try {
    const { idempotencyKey, args } = takeIdempotencyKey(given);
    const record = await engine.start(tool, args, { idempotencyKey, ...job });
    // Waits until the answer was sent: before that the client doesn't know the job's ID.
    if (onStarted) setImmediate(() => onStarted(record.token));
    return renderStarted(record, tool);
  } catch (error) {
    if (error instanceof LonghaulError) return renderRefused(error);
    throw error;
  }
}

/**
 * tools/poll_result. Results stay readable until they expire.
 *
 * @param show shows a record's open questions to the user
 * @throws ProtocolError -32602 for malformed params, -32603 while Temporal can't be reached
 */
export async function pollResult(
  engine: Guard,
  params: Record<string, unknown>,
  show?: (record: OperationRecord) => Promise<void>,
): Promise<Result> {
  const jobId = jobIdOf(params);
  return orNotFound(jobId, async () => {
    const record = await engine.read(jobId);
    if (isAsking(record)) await show?.(record);
    return { record, result: renderPolled(record, engine.tools.get(record.tool)) };
  });
}

/**
 * tools/cancel_job; idempotent. The answer has `success: false` for a job that has ended otherwise.
 *
 * @throws ProtocolError -32602 for malformed params, -32603 while Temporal can't be reached
 */
export async function cancelJob(engine: Guard, params: Record<string, unknown>): Promise<Result> {
  const { jobId, reason } = cancellationOf(params);
  return orNotFound(jobId, async () => {
    const wasOpen = await engine.cancel(jobId, reason);
    const record = await engine.read(jobId);
    return { record, result: renderCancelled(record, wasOpen) };
  });
}

/** A job's result, or the result for a job that doesn't exist or has expired. */
async function orNotFound(
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
