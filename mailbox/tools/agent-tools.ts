/** check_status, report_progress and bye. */
import { z } from 'zod';
import { defined } from '../../operations/json/defined.js';
import { defineMailboxTool } from './mailbox-tool.js';
import { agentId, missingArgument, messageId } from './fields.js';

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

export const bye = defineMailboxTool({
  name: 'bye',
  title: "End an agent's wait",
  description: "Ends your own wait, or a child's: it returns bye. Its messages are kept.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    agent_name: z.string().optional().describe('The child. Default: you'),
    agent_id: agentId.optional().describe('Always yours'),
  }),
  async run(engine, { isPerson }, { agent_name, agent_id }) {
    if (agent_id === undefined && !isPerson)
      throw missingArgument('agent_id', "yours, or that of the agent's parent");
    const name =
      agent_name ?? (agent_id === undefined ? undefined : engine.mailbox.nameOf(engine.principal, agent_id));
    if (name === undefined) throw missingArgument('agent_name', "the agent's name");
    await engine.mailbox.bye(engine.principal, name, agent_id);
    return { bye: name };
  },
});

export const reportProgress = defineMailboxTool({
  name: 'report_progress',
  title: 'Report progress',
  description: 'Shows the sender how far you are with a message, and keeps it yours. At most every 10 s.',
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  input: z.strictObject({
    agent_id: agentId,
    message_id: messageId,
    text: z.string(),
    fraction: z.number().optional().describe('0 to 1'),
  }),
  async run(engine, _context, { agent_id, message_id, text, fraction }) {
    const isRecorded = await engine.mailbox.report(engine.principal, agent_id, message_id, {
      text,
      fraction,
    });
    return isRecorded ? { ok: true } : { skipped: true };
  },
});
