/** The verbs of this face: calls that become jobs, and tools/poll_result. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Engine } from '../../../engine/index.js';
import { LonghaulError } from '../../../operations/errors.js';
import type { Tool } from '../../../operations/tool.js';
import {
  renderError,
  renderNotFound,
  renderPolled,
  renderRefused,
  renderStarted,
  type Result,
} from './render.js';
import { jobIdOf, takeArguments } from './schemas.js';

/** Who starts a job. */
export interface JobCaller {
  principal: string;
  /** What the job is listed under; missing in an era without sessions. */
  session?: string;
  /** What MCP's own notifications of progress are marked with, if the call gave one. */
  progressToken?: string | number;
}

/**
 * tools/call. What is wrong with the call is a result that says so, and nothing starts then.
 *
 * @param started told of the job's ID as soon as it is durable
 * @throws ProtocolError -32602 for an idempotency key of another form
 */
export async function startJob(
  engine: Engine,
  tool: Tool,
  given: Record<string, unknown>,
  { principal, session, progressToken }: JobCaller,
  started: (jobId: string) => void,
): Promise<Result & CallToolResult> {
  const { idempotencyKey, args } = takeArguments(given);
  try {
    const record = await engine.start(principal, tool.name, args, {
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(session === undefined ? {} : { session }),
      ...(progressToken === undefined ? {} : { progressToken }),
    });
    if (record.status === 'expired')
      throw new LonghaulError('expired', 'the job of this idempotency_key has expired; choose a new one');
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
 * @throws ProtocolError -32602 for params of another form, -32603 while Temporal can't be reached
 */
export async function pollResult(
  engine: Engine,
  principal: string,
  params: Record<string, unknown>,
): Promise<Result> {
  const jobId = jobIdOf(params);
  try {
    const record = await engine.read(principal, jobId);
    return record.status === 'expired'
      ? renderNotFound(jobId)
      : renderPolled(record, engine.tools.get(record.tool));
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    if (error.kind === 'not_found') return renderNotFound(jobId);
    throw renderError(error);
  }
}
