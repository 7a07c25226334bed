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
    agent_id: agentId.optional().describe('Yours, always'),
  }),
  async run(engine, { principal, isPerson }, { agent_name, agent_id }) {
    if (agent_id === undefined && !isPerson)
      throw new LonghaulError(
        'invalid_arguments',
        "agent_id: expected your own, or the parent's of the agent; got nothing",
      );
    const name =
      agent_name ?? (agent_id === undefined ? undefined : engine.mailbox.nameOf(principal, agent_id));
    if (name === undefined)
      throw new LonghaulError('invalid_arguments', "agent_name: expected the agent's name; got nothing");
    await engine.mailbox.bye(principal, name, agent_id);
    return { bye: name };
  },
});
