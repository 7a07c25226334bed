/** Schemas of two-stage requests. Unknown fields are ignored, malformed ones are -32602. */
import { z } from 'zod';
import { toJsonSchema, type JsonSchema } from '../../operations/tool/schema.js';
import { keepAliveSchema, parseParams } from '../call/params.js';

/** Methods that poll and cancel, named in the first reply. */
export const POLL_METHOD = 'tools/poll_result';
export const CANCEL_METHOD = 'tools/cancel_job';

const LONGEST_REASON = 500;

const pollParams = z.looseObject({ job_id: z.string().min(1).max(1000) });

const cancelParams = pollParams.extend({ reason: z.string().min(1).max(LONGEST_REASON).optional() });

/** @throws ProtocolError -32602 that names the field */
export function jobIdOf(params: unknown): string {
  return parseParams(pollParams, params).job_id;
}

/** @throws ProtocolError -32602 that names the field */
export function cancellationOf(params: unknown): { jobId: string; reason?: string } {
  const { job_id: jobId, reason } = parseParams(cancelParams, params);
  return { jobId, reason };
}

/** @throws ProtocolError -32602 */
export function parseKeepAlive(given: unknown): number | null | undefined {
  return parseParams(keepAliveSchema.optional(), given, 'params.keep_alive_seconds');
}

const message = z.object({ type: z.enum(['info', 'error']), text: z.string() });

/** Structured content of the answer to a call. */
export const jobSchema: JsonSchema = toJsonSchema(
  z.looseObject({
    success: z.boolean().describe('False when nothing was started.'),
    data: z
      .looseObject({
        job_id: z.string().optional(),
        estimated_runtime_seconds: z.number().optional(),
        status: z.enum(['queued', 'running', 'complete']).optional(),
        keep_alive_seconds: z.number().optional(),
        poll_endpoint: z.string().optional(),
        cancel_endpoint: z.string().optional(),
      })
      .describe('The job; its result comes later.'),
    messages: z.array(message),
  }),
  'output',
);
