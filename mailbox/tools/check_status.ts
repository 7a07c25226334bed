import { z } from 'zod';
import { defined } from '../../operations/json/defined.js';
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
  async run(engine, _context, { parent, cursor, limit }) {
    const page = defined({ parent, cursor, limit });
    const { agents, offers, nextCursor } = await engine.mailbox.status(engine.principal, page);
    return {
      agents: agents.map(({ lastSeenAt, deadLetters, ...agent }) => ({
        ...agent,
        dead: deadLetters,
        seen: lastSeenAt,
      })),
      offers,
      next_cursor: nextCursor,
    };
  },
});
