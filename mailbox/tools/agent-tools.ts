/** check_status, bye, report_progress, check_inbox and dead_letters. */
import { z } from 'zod';
import { defined } from '../../operations/json/defined.js';
import type { QueuedMessage, DeliveredMessage } from '../types.js';
import { agentId, defineMailboxTool, messageId, missingArgument, timeoutSeconds } from './mailbox-tool.js';
import { defaultSeconds, reportWaiting, timeoutMsOf } from './waiting.js';

export const checkStatus = defineMailboxTool({
  name: 'check_status',
  title: 'Check status',
  description:
    'The agents: waiting, busy, away (left its wait) or gone, with their queues; and how many messages for anyone are not yet taken (offers).',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    parent: z.string().optional().describe('Only its children'),
    cursor: z.string().optional().describe('next_cursor of the previous page'),
    limit: z.number().optional(),
  }),
  async run(engine, _context, { parent, cursor, limit }) {
    const page = defined({ parent, cursor, limit });
    const { agents, offers, nextCursor } = await engine.mailbox.status(engine.principal, page);
    return {
      agents: agents.map(({ lastSeenAt, deadLetters, ...agent }) => ({
        ...agent,
        dead: deadLetters,
        seen: lastSeenAt,
      })),
      offers,
      next_cursor: nextCursor,
    };
  },
});

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

export const reportProgress = defineMailboxTool({
  name: 'report_progress',
  title: 'Report progress',
  description: 'Shows the sender how far you are with a message, and keeps it yours. At most every 10 s.',
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  input: z.strictObject({
    agent_id: agentId,
    message_id: messageId,
    text: z.string(),
    fraction: z.number().optional().describe('0 to 1'),
  }),
  async run(engine, _context, { agent_id, message_id, text, fraction }) {
    const isRecorded = await engine.mailbox.report(engine.principal, agent_id, message_id, {
      text,
      fraction,
    });
    return isRecorded ? { ok: true } : { skipped: true };
  },
});

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
