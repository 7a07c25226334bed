import { z } from 'zod';
import type { QueuedMessage } from '../types.js';
import { timeoutSeconds } from './fields.js';
import { defineMailboxTool } from './mailbox-tool.js';
import { renderMail } from './render-mail.js';
import { defaultSeconds } from './replies.js';
import { reportWaiting, timeoutMsOf } from './waiting.js';

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
