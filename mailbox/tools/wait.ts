import { z } from 'zod';
import { agentId, also, leaseSeconds, messageId, timeoutSeconds } from './fields.js';
import { defineMailboxTool } from './mailbox-tool.js';
import { readOperations } from './operations.js';
import { continueBy, waitForWork } from './waiting.js';

export const wait = defineMailboxTool({
  name: 'wait',
  title: 'Wait for work',
  description: 'Continues waiting, as register_and_wait.',
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  input: z.strictObject({
    agent_id: agentId,
    ack: messageId.optional().describe('Message you had and will not respond to; else it is redelivered'),
    also,
    lease_seconds: leaseSeconds,
    timeout_seconds: timeoutSeconds,
  }),
  async run(engine, callContext, input) {
    const { agent_id, ack, also, lease_seconds, timeout_seconds } = input;
    const operations = await readOperations(engine.guard, also);
    continueBy(callContext, 'wait', input, timeout_seconds);
    return waitForWork(engine, callContext, {
      agentId: agent_id,
      ack,
      operations,
      leaseSeconds: lease_seconds,
      timeoutSeconds: timeout_seconds,
    });
  },
});
