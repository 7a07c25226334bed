import { z } from 'zod';
import { agentId, missingArgument } from './fields.js';
import { defineMailboxTool } from './mailbox-tool.js';

export const bye = defineMailboxTool({
  name: 'bye',
  title: 'End the waiting of an agent',
  description: "Ends your own waiting, or a child's: its wait answers bye. Its messages stay.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    agent_name: z.string().optional().describe('The child. Default: you'),
    agent_id: agentId.optional().describe('Yours, always'),
  }),
  async run(engine, { principal, isPerson }, { agent_name, agent_id }) {
    if (agent_id === undefined && !isPerson)
      throw missingArgument('agent_id', "your own, or the parent's of the agent");
    const name =
      agent_name ?? (agent_id === undefined ? undefined : engine.mailbox.nameOf(principal, agent_id));
    if (name === undefined) throw missingArgument('agent_name', "the agent's name");
    await engine.mailbox.bye(principal, name, agent_id);
    return { bye: name };
  },
});
