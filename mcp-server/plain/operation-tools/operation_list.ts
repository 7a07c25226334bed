import { z } from 'zod';
import { snakeKeys } from '../../../operations/json/snake-keys.js';
import { STATUS_META_KEY } from '../../../operations/wire/meta-keys.js';
import { STATUS_NAMES } from '../../../operations/status-names.js';
import { inlineData } from '../../call/as-data.js';
import { plainStatus } from '../envelope/status.js';
import { callText, refuse, defineOperationTool } from './operation-tool.js';

const DEFAULT_LIMIT = 20;
/** ISO 8601: a day, or a time with its zone. */
const isoTime = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);
/** Statuses that lists can filter by. */
const LISTED = ['working', 'input_required', 'completed', 'failed', 'canceled', 'timed_out'] as const;

const input = z.strictObject({
  status: z
    .enum(LISTED.map((status) => STATUS_NAMES[status].plain))
    .optional()
    .describe('running includes queued.'),
  tool: z.string().min(1).max(64).optional(),
  since: z
    .union([z.number().min(0), z.string().max(40)])
    .optional()
    .describe('Start: ISO 8601, or seconds ago.'),
  session: z.string().min(1).max(200).optional(),
  idempotency_key: z.string().min(1).max(200).optional(),
  everyone: z.boolean().default(false).describe("Also others' of your tenant, if a role allows it."),
  limit: z.number().int().min(1).max(100).default(DEFAULT_LIMIT),
  cursor: z.string().max(8192).optional().describe('next_cursor; keeps the filters.'),
});

export const operationList = defineOperationTool({
  name: 'list',
  title: 'List operations',
  description:
    'Lists your operations, newest first, for example to find a lost token. Lags by seconds: to find out whether a start succeeded, repeat it with its idempotency_key.',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input,
  output: z.object({
    operations: z
      .array(
        z.object({
          token: z.string(),
          owner: z.string().optional(),
          tool: z.string(),
          status: z.string(),
          stage: z.string().optional(),
          created_at: z.string(),
          closed_at: z.string().optional(),
          estimate_seconds: z.number().optional(),
          worked_seconds: z.number().optional().describe('Without waits for answers.'),
          problem: z.string().optional().describe("What of it can't be read."),
        }),
      )
      .describe(
        '{token, tool, status, stage, created_at, closed_at, estimate_seconds, worked_seconds, problem}',
      ),
    next_cursor: z.string().optional(),
  }),
  async run(engine, _context, { status, since, idempotency_key, everyone, ...filter }) {
    const page = await engine.list({
      ...filter,
      wholeTenant: everyone,
      status: LISTED.find((one) => STATUS_NAMES[one].plain === status),
      idempotencyKey: idempotency_key,
      createdAfter: since === undefined ? undefined : timeOf(since, await engine.nowMs()),
    });
    const operations = page.operations.map((listed) => {
      const { token, owner, tool, stage, createdAt, closedAt, estimateSeconds, workedSeconds, problem } =
        listed;
      return {
        token,
        owner,
        tool,
        status: plainStatus(listed),
        ...snakeKeys({ stage, createdAt, closedAt, estimateSeconds, workedSeconds, problem }),
      };
    });
    const { nextCursor } = page;
    const lines = operations.map(
      ({ token, tool, status, stage, created_at, problem }) =>
        `${token} ${tool}: ${status}${stage === undefined ? '' : ` (${inlineData(stage)})`}, started ${created_at}` +
        (problem === undefined ? '' : `; ${inlineData(problem)}`),
    );
    const more =
      nextCursor === undefined
        ? []
        : [`There are more: ${callText('operation_list', { cursor: nextCursor })}`];
    return {
      output: { operations, next_cursor: nextCursor },
      text: [...(lines.length ? lines : ['No operations; the list lags by seconds.']), ...more].join('\n'),
      meta: { [STATUS_META_KEY]: page.operations.map(({ status }) => status) },
    };
  },
});

/** @param nowMs Temporal's time, in epoch milliseconds @throws LonghaulError `invalid_arguments` */
function timeOf(since: number | string, nowMs: number): Date {
  const time = typeof since === 'number' ? nowMs - since * 1000 : Date.parse(since);
  const date = new Date(time);
  if (Number.isNaN(date.getTime()) || (typeof since === 'string' && !isoTime.safeParse(since).success))
    refuse(
      `arguments.since: expected ISO 8601 such as 2026-11-21T12:00:00Z, or a number of seconds; got ${JSON.stringify(since)}`,
    );
  return date;
}
