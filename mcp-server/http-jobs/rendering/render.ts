/** Renders the record of an operation as a job. */
import { createHash } from 'node:crypto';
import { pollIntervalMs } from '../../../operations/tool/budgets.js';
import { snakeKeys } from '../../../operations/json/snake-keys.js';
import { isTerminal, type OperationRecord } from '../../../operations/record.js';
import { STATUS_NAMES } from '../../../operations/status-names.js';
import { questionsOf } from '../../call/elicitation.js';
import { Problem } from './problems.js';
import { INLINE_BYTES, type Job } from './schemas.js';

export function jobPath(jobId: string): string {
  return `/v1/jobs/${encodeURIComponent(jobId)}`;
}

export function linksOf(jobId: string, tool: string): Job['links'] {
  const self = jobPath(jobId);
  return {
    self,
    events: `${self}/events`,
    cancel: `${self}:cancel`,
    input: `${self}/input`,
    result: `${self}/result`,
    partial: `${self}/partial`,
    logs: `${self}/logs`,
    artifacts: `${self}/artifacts`,
    resume: `${self}:resume`,
    tool: `/v1/tools/${tool}`,
  };
}

/** @throws Problem `job-expired` */
export function assertNotExpired(record: OperationRecord): OperationRecord {
  if (record.status === 'expired')
    throw new Problem('job-expired', `${record.token}: its result was kept until ${expiryOf(record)}`);
  return record;
}

function expiryOf({ closedAt, keepAliveSeconds }: OperationRecord): string | undefined {
  return closedAt && new Date(Date.parse(closedAt) + keepAliveSeconds * 1000).toISOString();
}

/** @throws Problem `job-expired` */
export function renderJob(record: OperationRecord): Job {
  assertNotExpired(record);
  const { token, tool, inputRequests, createdAt, updatedAt, closedAt, stage, statusMessage } = record;
  const { cancelRequestedAt, cancelReason, resumedFrom, traceId, attempt } = record;
  const error = record.error ?? record.resultProblem;
  const links = linksOf(token, tool);
  return {
    job_id: token,
    ...snakeKeys({ tool, createdAt, updatedAt, closedAt, stage, statusMessage }),
    ...snakeKeys({ cancelRequestedAt, cancelReason, resumedFrom, traceId, attempt }),
    status: STATUS_NAMES[record.status].job,
    status_url: links.self,
    expires_at: expiryOf(record),
    estimated_duration_seconds: record.estimateSeconds,
    progress: progressOf(record),
    cancel_requested: cancelRequestedAt !== undefined,
    ...(Object.keys(inputRequests).length
      ? { input_required: { requests: questionsOf(inputRequests) } }
      : {}),
    answers: record.answers?.map(snakeKeys),
    ...partialOf(record),
    ...resultOf(record, links.result),
    ...(error
      ? {
          error: {
            kind: error.kind,
            message: error.message,
            retryable: error.retryable,
            type: error.type,
            cause: error.cause,
          },
        }
      : {}),
    links: { ...links, temporal: record.temporalUrl },
  };
}

function progressOf({ progress }: OperationRecord): Job['progress'] {
  if (!progress) return undefined;
  const { progress: amount, total, message } = progress;
  const isMeasured = total !== undefined && total > 0;
  return {
    progress: amount,
    total,
    percentage: isMeasured ? Math.floor(Math.min(1, Math.max(0, amount / total)) * 1000) / 10 : undefined,
    message,
  };
}

function partialOf({ partial }: OperationRecord): Pick<Job, 'partial' | 'partial_bytes'> {
  if (partial === undefined) return {};
  const bytes = bytesOf(partial);
  return bytes > INLINE_BYTES ? { partial_bytes: bytes } : { partial };
}

function resultOf(
  { status, result, resultProblem }: OperationRecord,
  url: string,
): Pick<Job, 'result' | 'result_bytes' | 'result_url'> {
  if (status !== 'completed') return {};
  if (resultProblem !== undefined) return { result_url: url };
  const bytes = bytesOf(result);
  return {
    ...(bytes > INLINE_BYTES ? {} : { result: result ?? null }),
    result_bytes: bytes,
    result_url: url,
  };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? 'null');
}

/** Recommended time until the next poll, in whole seconds. */
export function retryAfterSeconds({ estimateSeconds }: OperationRecord): number {
  return Math.ceil(pollIntervalMs(estimateSeconds) / 1000);
}

export function jobHeaders(record: OperationRecord): Record<string, string> {
  return isTerminal(record.status) ? {} : { 'Retry-After': String(retryAfterSeconds(record)) };
}

/** The job's entity tag. Changes with every field but `updated_at`. Weak, since times may differ. */
export function etagOf({ updated_at: _time, ...fields }: Job): string {
  return `W/"${hash(JSON.stringify(fields))}"`;
}

/** A short digest, safe in an entity tag. */
export function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 27);
}
