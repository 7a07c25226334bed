/** A tool's documentation in the jobs API: ten items for planning a long call, as JSON, as Markdown and in /openapi.json. */
import { stringify } from 'yaml';
import { clientBudgetSeconds, pollIntervalMs } from '../../../operations/tool/budgets.js';
import { ITEMS, type Item } from '../../../operations/documentation/items.js';
import { parametersOf } from '../../../operations/documentation/parameters.js';
import { ERROR_KINDS, isRetryable } from '../../../operations/errors.js';
import { JOB_FINAL_STATUSES, JOB_STATUSES, type JobStatus } from '../../../operations/status-names.js';
import type { Tool } from '../../../operations/tool/index.js';
import { fixedEstimateSeconds, matchVariant, sizeInArguments } from '../../../operations/tool/estimate.js';
import { LONGEST_KEY } from '../headers.js';
import { DEFAULT_WAIT_SECONDS, IDEMPOTENCY_RULE } from './kickoff-schemas.js';
import { isRetryableProblem, PROBLEMS, PROBLEM_TYPES, problemUri } from './problems.js';
import { jobPath } from './render.js';
import { MIN_KEEP_ALIVE_SECONDS, LONGEST_WAIT_SECONDS } from './schemas.js';

/** Per minute, for each caller and server process. */
export interface Limits {
  kickoffsPerMinute: number;
  statusPerMinute: number;
}

const MEANINGS: Record<JobStatus, string> = {
  queued: 'accepted, not started yet',
  running: 'being worked on; with input_required it waits for an answer',
  succeeded: 'done: the result can be read',
  failed: 'ended with an error',
  canceled: 'ended by a cancel; the results up to then are in partial',
  timed_out: 'ended by the maximum duration; the results up to then are in partial',
};

const JOB = 'b63d7a1d66f10126687f3170f91758e0';

export function documentationOf(tool: Tool, limits: Limits) {
  const [from, to] = clientBudgetSeconds(tool.deadlineSeconds);
  const cleanup = tool.cleanup ?? null;
  return {
    operation: {
      name: tool.name,
      title: tool.title,
      description: tool.summary,
      kickoff: kickoffOf(tool),
    },
    parameters: parametersOf(tool.inputSchema),
    states: JOB_STATUSES.map((status) => ({
      status,
      terminal: (JOB_FINAL_STATUSES as readonly string[]).includes(status),
      meaning: MEANINGS[status],
    })),
    following: followingOf(tool),
    cancel: {
      endpoints: ['DELETE /v1/jobs/{job_id}', 'POST /v1/jobs/{job_id}:cancel'],
      rules:
        'Idempotent. Answers 202 while the job is being canceled, 200 once it is canceled, and 409 if it has ended in another way. Partial result, logs and files are kept.',
      cleanup,
    },
    timeout: {
      max_duration_seconds: tool.deadlineSeconds,
      max_cleanup_seconds: tool.cleanupSeconds,
      max_input_wait_seconds: tool.inputWaitSeconds,
      client_budget_seconds: { from, to },
      rules:
        'Time spent waiting for answers does not count, up to max_input_wait_seconds in all. A job that exceeds it becomes timed_out, within max_cleanup_seconds; its results up to then stay in partial.',
      cleanup,
    },
    idempotency: {
      header: 'Idempotency-Key',
      rules: `1 to ${LONGEST_KEY} visible ASCII characters. ${IDEMPOTENCY_RULE} It is kept for at least ${MIN_KEEP_ALIVE_SECONDS} s. A repeated kickoff has Idempotent-Replayed: true, and answers 200 once the job has ended.`,
    },
    errors: {
      kinds: ERROR_KINDS.map((kind) => ({ kind, retryable: isRetryable(kind) })),
      retryable_types: tool.retryableErrors,
      problems: PROBLEM_TYPES.map((type) => ({
        type: problemUri(type),
        status: PROBLEMS[type].status,
        retryable: isRetryableProblem(type),
      })),
      rules:
        "A job's error is {kind, message, retryable, type?}; retryable decides whether to try again. A request that is refused answers with a problem document (RFC 9457).",
    },
    rates: {
      kickoffs_per_minute: limits.kickoffsPerMinute,
      status_per_minute: limits.statusPerMinute,
      rules:
        'For each caller and server process. Beyond them requests answer 429 with Retry-After; every answer has RateLimit headers.',
    },
    example: traceOf(tool),
  } satisfies Record<Item, unknown>;
}

function kickoffOf({ name, wait }: Tool) {
  const modes = wait
    ? `Waits for the end, for ${DEFAULT_WAIT_SECONDS} s or what Prefer: wait=SECONDS says (${LONGEST_WAIT_SECONDS} at most), and answers 200 with the ended job, its result in it; else 202 with the job. Prefer: respond-async: 202 at once.`
    : 'Answers 202 with the job at once, its URL in Location; the work continues whether or not a client waits.';
  return {
    endpoint: `POST /v1/tools/${name}/jobs`,
    rules: `The body is the arguments, a JSON object. ${modes}`,
  };
}

function followingOf(tool: Tool) {
  const retryAfter = retryAfterOf(tool);
  return {
    polling: {
      endpoint: 'GET /v1/jobs/{job_id}',
      rules: `Poll again after Retry-After seconds, here ${retryAfter}, until the status is terminal; ?wait=${LONGEST_WAIT_SECONDS} waits for the end or a question. If-None-Match with the last ETag answers 304 while nothing has changed.`,
      example: JSON.stringify({
        job_id: JOB,
        status: 'running',
        progress: { progress: 2, total: 5, percentage: 40 },
      }),
    },
    events: {
      endpoint: 'GET /v1/jobs/{job_id}/events',
      rules:
        'Server-sent events: status, progress, log, input_required and, as the last, result. Last-Event-ID resumes an interrupted stream, on any server process.',
      example: `event: status\ndata: ${JSON.stringify({ job_id: JOB, status: 'running' })}\nid: ...`,
    },
  };
}

function retryAfterOf(tool: Tool): number {
  return Math.ceil(pollIntervalMs(estimateOf(tool)) / 1000);
}

function estimateOf(tool: Tool): number {
  const args = tool.example?.input ?? {};
  const { estimate } = matchVariant(tool.estimate, args);
  return fixedEstimateSeconds(estimate, sizeInArguments(estimate, args));
}

function traceOf(tool: Tool) {
  const path = jobPath(JOB);
  const retryAfter = `Retry-After: ${retryAfterOf(tool)}`;
  const answer = (status: string, headers: string[], body: object) =>
    [`HTTP/1.1 ${status}`, ...headers, 'Content-Type: application/json', '', JSON.stringify(body)].join('\n');
  return [
    {
      request: [
        `POST /v1/tools/${tool.name}/jobs`,
        'Content-Type: application/json',
        'Prefer: respond-async',
        'Idempotency-Key: 4a8c1f7e-3d6a-4f3b-9a8e-1f9c7d2b4a8c',
        '',
        tool.example ? JSON.stringify(tool.example.input) : '{...}',
      ].join('\n'),
      response: answer('202 Accepted', [`Location: ${path}`, retryAfter], {
        job_id: JOB,
        status: 'queued',
        status_url: path,
        estimated_duration_seconds: estimateOf(tool),
      }),
    },
    {
      request: `GET ${path}`,
      response: answer('200 OK', [retryAfter], { job_id: JOB, status: 'running' }),
    },
    {
      request: `GET ${path}`,
      response: answer('200 OK', [], {
        job_id: JOB,
        status: 'succeeded',
        ...(tool.example?.output === undefined ? {} : { result: tool.example.output }),
      }),
    },
  ];
}

/** Markdown with a heading for each item, and its fields as YAML. */
export function documentationText(documentation: ReturnType<typeof documentationOf>): string {
  const { name, description, kickoff } = documentation.operation;
  const { kinds, retryable_types, problems, rules } = documentation.errors;
  const kindsThat = (isMeant: boolean) =>
    kinds.filter(({ retryable }) => retryable === isMeant).map(({ kind }) => kind);
  const retryableProblems = problems.filter(({ retryable }) => retryable);
  const errors = {
    rules: `${rules} Problems that are not listed here are not retryable.`,
    retryable: [
      ...kindsThat(true),
      ...retryable_types,
      ...retryableProblems.map(({ type, status }) => `${type} (${status})`),
    ],
    not_retryable: kindsThat(false),
  };
  const fields = { ...documentation, operation: { kickoff }, errors };
  return (Object.entries(ITEMS) as [Item, string][])
    .map(([item, title]) => {
      const heading = item === 'operation' ? `# ${name}\n\n${description}` : `## ${title}`;
      return `${heading}\n\n\`\`\`yaml\n${stringify(fields[item], { lineWidth: 0 })}\`\`\``;
    })
    .join('\n\n');
}
