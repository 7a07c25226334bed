import { z } from 'zod';
import { defined } from '../../operations/json/defined.js';
import { agentId, also, leaseSeconds, messageId, timeoutSeconds } from './fields.js';
import { defineMailboxTool } from './mailbox-tool.js';
import { readOperations } from './operations.js';
import { continueBy, waitForWork } from './waiting.js';

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
    lease_seconds: leaseSeconds,
    timeout_seconds: timeoutSeconds,
  }),
  async run(engine, callContext, input) {
    const { agent_id, response_to, response, also, lease_seconds, timeout_seconds } = input;
    const operations = await readOperations(engine.guard, also);
    await engine.mailbox.respond(engine.principal, agent_id, response_to, response);
    continueBy(callContext, 'wait', defined({ agent_id, also, lease_seconds }), timeout_seconds);
    return waitForWork(engine, callContext, {
      agentId: agent_id,
      operations,
      leaseSeconds: lease_seconds,
      timeoutSeconds: timeout_seconds,
    });
  },
});
