import PQueue from 'p-queue';
import { z } from 'zod';
import type { ListFilter } from '../../../engine/index.js';
import type { Guard } from '../../guard.js';
import { answerAfter } from '../envelope/index.js';
import { callText, refuse, token, defineOperationTool } from './operation-tool.js';

const MAX_CANCELLED = 100;
const AT_ONCE = 10;

const input = z.strictObject({
  token: token.optional(),
  filter: z
    .strictObject({
      tool: z.string().min(1).max(64).optional(),
      session: z.string().min(1).max(200).optional(),
      status: z.enum(['running', 'input_required']).optional(),
    })
    .optional()
    .describe('Instead of a token: open operations that match, at most 100. At least one field.'),
  reason: z.string().min(1).max(500).optional(),
  force: z.boolean().optional().describe('At once, without cleanups.'),
});

export const operationCancel = defineOperationTool({
  name: 'cancel',
  title: 'Cancel operations',
  description:
    'Ends an operation, or those that match a filter, for good; one that has ended is unchanged. It is cancelled once running work has stopped and cleaned up (cancel_requested meanwhile). Partial results, files and logs stay. A filter may miss operations started seconds ago.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  input,
  output: z.looseObject({
    was_open: z.boolean().optional(),
    cancelled: z.array(z.string()).optional().describe('By a filter: tokens.'),
    has_more: z.boolean().optional(),
  }),
  async run(engine, _context, { token, filter, reason, force }) {
    if ((token === undefined) === (filter === undefined))
      refuse('arguments: expected either token or filter; got ' + (token === undefined ? 'neither' : 'both'));
    if (force && filter) refuse('arguments.force: expected a token beside it; got a filter');
    if (token !== undefined) return cancelOne(engine, token, { reason, force });
    if (Object.values(filter!).every((value) => value === undefined))
      refuse('arguments.filter: expected at least one of tool, session and status; got none');
    return cancelAll(engine, filter!, reason);
  },
});

async function cancelOne(
  engine: Guard,
  token: string,
  { reason, force }: Pick<z.output<typeof input>, 'reason' | 'force'>,
) {
  const wasOpen = await engine.cancel(token, reason, { force });
  const record = await engine.read(token);
  const done = wasOpen
    ? `${record.closedAt === undefined ? 'Cancel requested' : 'Cancelled'}. What was finished stays.`
    : 'It had already ended; nothing was cancelled.';
  return answerAfter(engine, record, done, { was_open: wasOpen });
}

async function cancelAll(
  engine: Guard,
  { status, ...filter }: NonNullable<z.output<typeof input>['filter']>,
  reason: string | undefined,
) {
  const statuses: ListFilter['status'][] =
    status === undefined ? ['working', 'input_required'] : [status === 'running' ? 'working' : status];
  const pages = await Promise.all(
    statuses.map((one) =>
      engine.list({ ...filter, status: one, limit: MAX_CANCELLED, withoutAdopted: true }),
    ),
  );
  const tokens = pages.flatMap(({ operations }) => operations.map((operation) => operation.token));
  const hasMore = tokens.length > MAX_CANCELLED || pages.some(({ nextCursor }) => nextCursor !== undefined);
  const cancels = new PQueue({ concurrency: AT_ONCE });
  const wereOpen = await cancels.addAll(
    tokens.slice(0, MAX_CANCELLED).map((token) => () => engine.cancel(token, reason)),
  );
  const cancelled = tokens.filter((_token, index) => wereOpen[index]);
  const text = [
    cancelled.length
      ? `Cancelled ${cancelled.length}: ${cancelled.join(', ')}.`
      : 'No open operation matches.',
    hasMore ? 'More operations match: call again.' : '',
    `Lists lag by seconds. To see them: ${callText('operation_list', filter)}`,
  ];
  return { output: { cancelled, has_more: hasMore }, text: text.filter(Boolean).join('\n') };
}
