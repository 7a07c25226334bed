/** check_inbox and dead_letters. */
import { z } from 'zod';
import type { QueuedMessage, DeliveredMessage } from '../types.js';
import { timeoutSeconds, agentId, messageId, missingArgument } from './fields.js';
import { defineMailboxTool } from './mailbox-tool.js';
import { defaultSeconds, reportWaiting, timeoutMsOf } from './waiting.js';

/** Number of message IDs that a caller may name as seen. */
const SEEN_LIMIT = 1_000;

export const checkInbox = defineMailboxTool({
  name: 'check_inbox',
  title: 'Check an inbox',
  description: "An agent's messages, oldest first, without taking them.",
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    agent_name: z.string(),
    seen: z
      .array(z.string().max(200))
      .max(SEEN_LIMIT)
      .optional()
      .describe('Wait for messages other than these ids'),
    timeout_seconds: timeoutSeconds,
  }),
  async run(engine, callContext, { agent_name, seen, timeout_seconds }) {
    const { shutdown } = callContext;
    if (!seen) return { messages: (await engine.mailbox.peek(engine.principal, agent_name)).map(render) };
    const timeout = AbortSignal.timeout(timeoutMsOf(timeout_seconds ?? defaultSeconds(callContext)));
    const signal = AbortSignal.any([callContext.signal, shutdown.signal, timeout]);
    const waiting = reportWaiting(callContext);
    try {
      const unseen = await firstUnseen(
        engine.mailbox.follow(engine.principal, agent_name, signal),
        new Set(seen),
      );
      if (unseen.length) return { messages: unseen.map(render) };
      return { nw: true, ...(shutdown.hasBegun ? { again: 1 } : {}) };
    } finally {
      waiting.end();
    }
  },
});

/** Resolves as soon as there are unseen messages, or with none when the iteration ends. */
async function firstUnseen(
  inbox: AsyncGenerator<QueuedMessage[]>,
  seen: ReadonlySet<string>,
): Promise<QueuedMessage[]> {
  for await (const messages of inbox) {
    const unseen = messages.filter(({ messageId }) => !seen.has(messageId));
    if (unseen.length) return unseen;
  }
  return [];
}

function render({ state, deliveries, ...message }: QueuedMessage): object {
  return { ...renderMail(message), state, deliveries };
}

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

function renderMail({
  messageId,
  from,
  mode,
  content,
  context,
  sentAt,
  responseTo,
}: Omit<DeliveredMessage, 'delivery'>): object {
  return {
    id: messageId,
    from,
    mode,
    m: content,
    ctx: context,
    re: responseTo,
    sent: sentAt,
  };
}
