/** Schemas of kickoffs, shared by both routes, each tool's own path, and resume. */
import { z } from '@hono/zod-openapi';
import { WAIT_ENDED_HEADERS } from '../context.js';
import { LONGEST_SESSION, VISIBLE_ASCII } from '../headers.js';
import type { ProblemType } from './problems.js';
import {
  header,
  idempotencyKey,
  integer,
  job,
  json,
  MIN_KEEP_ALIVE_SECONDS,
  LONGEST_WAIT_SECONDS,
} from './schemas.js';

/** Default wait of a short tool's kickoff, in seconds. Gateways time out at 30. */
export const DEFAULT_WAIT_SECONDS = 20;
/** Longest keep-alive that you can request: ten years. Temporal's retention limits it further. */
const LONGEST_KEEP_ALIVE_SECONDS = 10 * 365 * 24 * 3600;

export const kickoffSchema = job
  .extend({
    estimated_duration_seconds: z.number(),
    idempotency: z.object({
      key: z.string().optional().describe('The Idempotency-Key, if the request had one.'),
      replayed: z.boolean().describe('Whether an earlier request with the same key started this job.'),
      kept_seconds_after_end: z
        .number()
        .describe('How long the job and its key are kept after it has ended, in seconds.'),
      rule: z.string(),
    }),
  })
  .openapi('Kickoff');

export const IDEMPOTENCY_RULE =
  'A key belongs to the caller and the tool. The same key with the same request gives the same job, also for concurrent requests and after it has ended, for as long as the job is kept; with another request it is refused (422).';

const HEADERS = {
  ...WAIT_ENDED_HEADERS,
  Location: header('URL of the job.'),
  'Preference-Applied': header('The preferences that were honoured (RFC 7240).'),
  'Idempotent-Replayed': header('true: the job was started by an earlier request with the same key.'),
  'Retry-After': header('Seconds until the next poll is worthwhile.', 'integer'),
};

/** headers.ts validates them. */
export const kickoffHeaders = z.object({
  'idempotency-key': idempotencyKey(`. ${IDEMPOTENCY_RULE}`),
  prefer: z
    .string()
    .optional()
    .openapi({
      description: `respond-async: do not wait, also for a short tool. wait=SECONDS: how long a short tool's kickoff may wait for the end; default ${DEFAULT_WAIT_SECONDS}, at most ${LONGEST_WAIT_SECONDS}. Kickoffs of other tools never wait.`,
    }),
  'longhaul-session': z.string().optional().openapi({
    maxLength: LONGEST_SESSION,
    pattern: VISIBLE_ASCII.source,
    description:
      '1 to 200 visible ASCII characters of your choice: jobs can be listed by it. Default: the MCP session of Mcp-Session-Id, if there is one.',
  }),
});

export const kickoffQuery = z.strictObject({
  keep_alive_seconds: integer(
    1,
    LONGEST_KEEP_ALIVE_SECONDS,
    `How long to keep the result after the end. At least ${MIN_KEEP_ALIVE_SECONDS} s in any case; bounded by Temporal's retention.`,
  ),
});

export const kickoffResponses = {
  200: json(
    kickoffSchema,
    'The job has ended: a short one within the wait, or an earlier one with the same key.',
    HEADERS,
  ),
  202: json(kickoffSchema, 'The job is durable and runs independently of this connection.', HEADERS),
};

export const KICKOFF_PROBLEMS: ProblemType[] = [
  'invalid-arguments',
  'invalid-idempotency-key',
  'invalid-session',
  'unknown-tool',
  'job-expired',
  'idempotency-key-reused',
  'queue-full',
];

export const kickoffArguments = z.record(z.string(), z.unknown());

export const KICKOFF_PATH = '/v1/tools/{tool}/jobs';
