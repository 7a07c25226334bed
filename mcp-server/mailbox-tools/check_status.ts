import { z } from 'zod';
import { defineMailboxTool } from './mailbox-tool.js';

export const checkStatus = defineMailboxTool({
  name: 'check_status',
  title: 'Check status',
  description:
    'The agents: waiting, busy or gone, with their queues; and how many messages for anyone nobody has taken yet (offers).',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({ parent: z.string().optional().describe('Only its children') }),
  async run(engine, { principal }, { parent }) {
    const { agents, offers } = await engine.mailbox.status(principal);
    return {
      agents: agents
        .filter((agent) => parent === undefined || agent.parent === parent)
        .map(({ lastSeenAt, ...agent }) => ({ ...agent, seen: lastSeenAt })),
      offers,
    };
  },
});
