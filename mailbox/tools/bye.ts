import { z } from 'zod';
import { agentId, missingArgument } from './fields.js';
import { defineMailboxTool } from './mailbox-tool.js';

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
