/** register_and_wait, respond_and_wait and wait. */
import { z } from 'zod';
import { LonghaulError } from '../../operations/errors.js';
import { agentId, also, defineMailboxTool, leaseSeconds, messageId, timeoutSeconds } from './mailbox-tool.js';
import { continueBy, readOperations, waitForWork } from './waiting.js';

export const registerAndWait = defineMailboxTool({
  name: 'register_and_wait',
  title: 'Register and wait',
  description: [
    'Registers you as an agent and waits for work. Returns your agent_id once: keep it.',
    'Every wait returns one of:',
    '{"nw":true}: no work yet; call wait again at once, saying nothing.',
    '{"id","m"}: a message; do what m says, then respond_and_wait. from, mode: as before if missing. ctx: its context. re: it answers your message. again: you may have had it.',
    '{"ops"}: operations ended, by token. {"gone"}: another agent took your name: stop. {"bye"}: you are done: stop.',
  ].join('\n'),
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  input: z.strictObject({
    agent_name: z.string().describe('Letters, digits, . _ -'),
    agent_type: z.string().describe('E.g. claude-code'),
    capabilities: z.array(z.string()).default([]),
    parent: z.string().optional().describe('Agent that may end your wait'),
    agent_id: agentId.optional().describe('To return as the same agent'),
    also: also.describe('Tokens of operations whose end also ends the wait'),
    lease_seconds: leaseSeconds.describe('Until a message you have is redelivered. Default: 900'),
    timeout_seconds: timeoutSeconds,
  }),
  async run(engine, callContext, input) {
    const { agent_name, agent_type, capabilities, parent } = input;
    const operations = await readOperations(engine.guard, input.also);
    const id = input.agent_id ?? (await register());
    const name = engine.mailbox.nameOf(engine.principal, id);
    if (name !== agent_name)
      throw new LonghaulError(
        'invalid_arguments',
        `agent_id: expected an ID of ${JSON.stringify(agent_name)}; got one of ${JSON.stringify(name)}`,
      );
    const args = { ...input, agent_id: id };
    continueBy(callContext, 'register_and_wait', args, input.timeout_seconds);
    const answer = await waitForWork(engine, callContext, args, operations);
    const isKnown = input.agent_id !== undefined && !callContext.isContinued;
    return { ...(isKnown ? {} : { agent_id: id }), ...answer };

    async function register(): Promise<string> {
      const registration = { name: agent_name, type: agent_type, capabilities, parent };
      return (await engine.mailbox.register(engine.principal, registration)).agentId;
    }
  },
});

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
    const { response_to, response, timeout_seconds, ...waiting } = input;
    const operations = await readOperations(engine.guard, input.also);
    await engine.mailbox.respond(engine.principal, input.agent_id, response_to, response);
    continueBy(callContext, 'wait', waiting, timeout_seconds);
    return waitForWork(engine, callContext, input, operations);
  },
});

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
    const operations = await readOperations(engine.guard, input.also);
    continueBy(callContext, 'wait', input, input.timeout_seconds);
    return waitForWork(engine, callContext, input, operations);
  },
});
