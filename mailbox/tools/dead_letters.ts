import { z } from 'zod';
import { agentId, messageId, missingArgument } from './fields.js';
import { defineMailboxTool } from './mailbox-tool.js';
import { renderMail } from './render-mail.js';

export const deadLetters = defineMailboxTool({
  name: 'dead_letters',
  title: 'Dead letters',
  description:
    'Messages delivered max_deliveries times and never acknowledged. Lists those of an agent; resends or drops one, for its sender or that agent.',
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
  input: z.strictObject({
    action: z.enum(['list', 'resend', 'drop']).default('list'),
    agent_name: z.string().optional().describe('For list'),
    message_id: messageId.optional(),
    agent_id: agentId.optional().describe('Yours; not for list'),
  }),
  async run(engine, { isPerson }, { action, agent_name, message_id, agent_id }) {
    const { mailbox } = engine;
    if (action === 'list') {
      if (agent_name === undefined) throw missingArgument('agent_name', "the agent's name");
      const letters = await mailbox.deadLetters(engine.principal, agent_name);
      return {
        messages: letters.map(({ deliveries, deadAt, ...message }) => ({
          ...renderMail(message),
          deliveries,
          dead: deadAt,
        })),
      };
    }
    if (message_id === undefined) throw missingArgument('message_id', 'the id of a dead letter');
    if (agent_id === undefined && !isPerson) throw missingArgument('agent_id', 'yours');
    await mailbox.settleDeadLetter(engine.principal, {
      messageId: message_id,
      action,
      by: agent_id,
    });
    return { [action === 'resend' ? 'resent' : 'dropped']: message_id };
  },
});
