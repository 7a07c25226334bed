import { z } from 'zod';
import { defineMailboxTool } from './mailbox-tool.js';

export const checkStatus = defineMailboxTool({
  name: 'check_status',
  title: 'Check status',
  description:
    'The agents: waiting, busy, away (left its wait) or gone, with their queues; and how many messages for anyone are not yet taken (offers).',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    parent: z.string().optional().describe('Only its children'),
    cursor: z.string().optional().describe('next_cursor of the previous page'),
    limit: z.number().optional(),
  }),
  async run(engine, { principal }, { parent, cursor, limit }) {
    const { agents, offers, nextCursor } = await engine.mailbox.status(principal, {
      ...(parent === undefined ? {} : { parent }),
      ...(cursor === undefined ? {} : { cursor }),
      ...(limit === undefined ? {} : { limit }),
    });
    return {
      agents: agents.map(({ lastSeenAt, deadLetters, ...agent }) => ({
        ...agent,
        ...(deadLetters === undefined ? {} : { dead: deadLetters }),
        seen: lastSeenAt,
      })),
      offers,
      ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }),
    };
  },
});
