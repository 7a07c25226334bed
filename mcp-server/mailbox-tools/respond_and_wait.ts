import { z } from 'zod';
import { agentId, also, messageId, timeoutSeconds } from './fields.js';
import { defineMailboxTool } from './mailbox-tool.js';
import { readOperations } from './operations.js';
import { LONG_SECONDS, waitForWork } from './waiting.js';

export const respondAndWait = defineMailboxTool({
  name: 'respond_and_wait',
  title: 'Respond and wait',
  description: 'Responds to a message, then waits for the next, as register_and_wait.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    agent_id: agentId,
    response_to: messageId.describe('id of the message'),
    response: z.string(),
    also,
    timeout_seconds: timeoutSeconds,
  }),
  async run(engine, caller, { agent_id, response_to, response, also, timeout_seconds }) {
    const operations = await readOperations(engine, caller, also);
    await engine.mailbox.respond(caller.principal, agent_id, response_to, response);
    caller.goesOnAs?.({
      tool: 'wait',
      args: { agent_id, ...(also === undefined ? {} : { also }) },
      timeoutArgument: 'timeout_seconds',
      timeoutSeconds: timeout_seconds ?? LONG_SECONDS,
    });
    return waitForWork(engine, caller, { agentId: agent_id, operations, timeoutSeconds: timeout_seconds });
  },
});
