/** Zod schemas of the jobs API. They validate requests and generate the OpenAPI document. */
import { z, type RouteConfig } from '@hono/zod-openapi';
import { ERROR_KINDS } from '../../../operations/errors.js';
import { KEPT_ANSWERS, KEPT_REFUSED_ANSWERS } from '../../../operations/record.js';
import { JOB_FINAL_STATUSES, JOB_STATUSES } from '../../../operations/status-names.js';
import { LONGEST_KEY, VISIBLE_ASCII } from '../headers.js';
import { PROBLEM_TYPES, PROBLEMS, problemUri, type ProblemType } from './problems.js';

/** Longest wait of a request, in seconds. Proxies time out after about a minute. */
export const LONGEST_WAIT_SECONDS = 60;
/** Largest result or partial result within a job: 1 MiB of JSON. */
export const INLINE_BYTES = 1024 * 1024;
/** Minimum time that a result stays readable after the job's end: a day. */
export const MIN_KEEP_ALIVE_SECONDS = 24 * 3600;

/** The header Idempotency-Key, which headers.ts validates. @param meaning the rest of its description */
export function idempotencyKey(meaning: string) {
  return z
    .string()
    .optional()
    .openapi({
      maxLength: LONGEST_KEY,
      pattern: VISIBLE_ASCII.source,
      description: `1 to ${LONGEST_KEY} visible ASCII characters${meaning}`,
    });
}

const time = z.iso.datetime();
const path = z.string();

export const jobStatus = z.enum(JOB_STATUSES).openapi('JobStatus', {
  description: 'queued and running are not final; succeeded, failed, canceled and timed_out are (terminal).',
  'x-terminal': [...JOB_FINAL_STATUSES],
});

export const jobError = z
  .object({
    kind: z.enum(ERROR_KINDS).describe('A closed list.'),
    message: z.string(),
    retryable: z.boolean().describe('Whether the same job may succeed later.'),
    type: z.string().optional().describe("Failure type set by the tool's code."),
    cause: z.string().optional(),
  })
  .openapi('JobError');

export const inputRequest = z
  .object({
    message: z.string(),
    schema: z.record(z.string(), z.unknown()).describe('JSON Schema of the value: a flat object.'),
    expires_at: time.optional().describe('When the job continues without an answer.'),
    approvers: z.array(z.string()).optional().describe('Roles of which one is needed to answer.'),
    four_eyes: z.literal(true).optional().describe('The caller who started the job may not answer.'),
  })
  .openapi('InputRequest');

const answeredRequest = z
  .object({
    key: z.string(),
    id: z.string().optional().describe('As in the response to the answer.'),
    action: z.enum(['accept', 'decline', 'cancel']),
    state: z
      .enum(['applied', 'refused', 'queued'])
      .describe('queued: no worker has taken it yet. Several answers to one key may be refused.'),
    reason: z.string().optional().describe('Why it was refused.'),
    is_default: z.literal(true).optional().describe('No answer in time: the default was taken.'),
    by: z
      .union([
        z.object({ principal: z.string(), roles: z.array(z.string()).optional() }),
        z.object({ operator: z.literal(true) }),
      ])
      .optional()
      .describe('Who answered; missing without authentication.'),
    at: time,
  })
  .openapi('AnsweredRequest');

export const jobLinks = z
  .object({
    self: path,
    events: path.describe('Server-sent events.'),
    cancel: path,
    input: path,
    result: path,
    partial: path,
    logs: path,
    artifacts: path,
    resume: path,
    tool: path,
    temporal: z.url().optional().describe("Run of a failed job in Temporal's UI, for people."),
  })
  .openapi('JobLinks');

export const job = z
  .object({
    job_id: z.string(),
    tool: z.string(),
    status: jobStatus,
    status_url: path,
    created_at: time,
    updated_at: time,
    closed_at: time.optional(),
    expires_at: time.optional().describe('Until when the job can be read; set once it has ended.'),
    estimated_duration_seconds: z.number().optional(),
    stage: z.string().optional(),
    status_message: z.string().optional().describe('One line for people.'),
    progress: z
      .object({
        progress: z.number(),
        total: z.number().optional(),
        percentage: z.number().min(0).max(100).optional(),
        message: z.string().optional(),
      })
      .optional()
      .describe('Never decreases.'),
    cancel_requested: z.boolean(),
    cancel_requested_at: time.optional(),
    cancel_reason: z.string().optional(),
    input_required: z
      .object({ requests: z.record(z.string(), inputRequest) })
      .optional()
      .describe('Questions by key: the job waits until they are answered.'),
    answers: z
      .array(answeredRequest)
      .optional()
      .describe(
        `Answered questions: the latest ${KEPT_ANSWERS}. Also queued answers, and the latest ${KEPT_REFUSED_ANSWERS} that were refused after they had been queued.`,
      ),
    partial: z.unknown().optional().describe('Partial result, up to 1 MiB.'),
    partial_bytes: z
      .int()
      .optional()
      .describe('Size in bytes of a partial result over 1 MiB, which is at links.partial.'),
    result: z.unknown().optional().describe('Result of a succeeded job, up to 1 MiB.'),
    result_bytes: z.int().optional().describe('Size of the result, in bytes of JSON.'),
    result_url: path.optional().describe('URL of the whole result; supports Range.'),
    error: jobError.optional(),
    attempt: z.int(),
    resumed_from: z.string().optional().describe('The job that this one resumed.'),
    trace_id: z
      .string()
      .optional()
      .describe('Trace of the request that started the job (W3C Trace Context).'),
    links: jobLinks,
  })
  .openapi('Job');

export type Job = z.output<typeof job>;

export const problem = z
  .looseObject({
    type: z.enum(PROBLEM_TYPES.map(problemUri) as [string, ...string[]]),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    retryable: z.boolean(),
    errors: z.array(z.object({ at: z.string(), detail: z.string() })).optional(),
  })
  .openapi('Problem', { description: 'RFC 9457.' });

export const jobParams = z.object({
  id: z.string().openapi({ maxLength: 1000, description: 'job_id of a kickoff.' }),
});

/** An integer query parameter. @throws ZodError for anything else, including empty text */
export function integer(min: number, max: number, description: string) {
  return z
    .string()
    .regex(/^\d{1,15}$/, `expected a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `expected a whole number from ${min} to ${max}`)
    .optional()
    .openapi({ type: 'integer', minimum: min, maximum: max, description });
}

export function pageCursor(description: string) {
  return z
    .string()
    .max(4096)
    .regex(/^[A-Za-z0-9_-]+$/, 'expected the cursor of a page')
    .optional()
    .openapi({ description });
}

export function header(description: string, type: 'string' | 'integer' = 'string') {
  return { description, schema: { type } };
}

export function json(schema: z.ZodType, description: string, headers?: object) {
  return {
    description,
    content: { 'application/json': { schema } },
    ...(headers ? { headers } : {}),
  } as RouteConfig['responses'][string];
}

export const BODY_PROBLEMS: ProblemType[] = ['invalid-json', 'too-large', 'unsupported-media-type'];

const ALWAYS: ProblemType[] = [
  'invalid-request',
  'forbidden',
  'not-allowed',
  'headers-too-large',
  'internal',
  'not-supported',
  'unavailable',
  'server-stopping',
];

/** A route's own responses and its problems', grouped by status. */
export function responses(
  own: RouteConfig['responses'],
  problems: readonly ProblemType[],
): RouteConfig['responses'] {
  const byStatus = new Map<number, ProblemType[]>();
  for (const type of [...problems, ...ALWAYS])
    byStatus.set(PROBLEMS[type].status, [...(byStatus.get(PROBLEMS[type].status) ?? []), type]);
  const described = [...byStatus].map(([status, types]) => [
    status,
    {
      description: types.map((type) => `${problemUri(type)}: ${PROBLEMS[type].title}.`).join(' '),
      content: { 'application/problem+json': { schema: problem } },
    },
  ]);
  return { ...own, ...(Object.fromEntries(described) as RouteConfig['responses']) };
}
