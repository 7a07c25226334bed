import { z } from 'zod';
import { LonghaulError } from '../../operations/errors.js';
import { agentId } from './fields.js';
import { defineMailboxTool } from './mailbox-tool.js';

export const bye = defineMailboxTool({
  name: 'bye',
  title: 'End the waiting of an agent',
  description: "Ends your own waiting, or a child's: its wait answers bye. Its messages stay.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    agent_name: z.string().optional().describe('The child. Default: you'),
    agent_id: agentId.optional().describe('Yours'),
  }),
  async run(engine, { principal }, { agent_name, agent_id }) {
    const name =
      agent_name ?? (agent_id === undefined ? undefined : engine.mailbox.nameOf(principal, agent_id));
    if (name === undefined)
      throw new LonghaulError('invalid_arguments', 'arguments: expected agent_name or agent_id; got neither');
    await engine.mailbox.bye(principal, name, agent_id);
    return { bye: name };
  },
});
