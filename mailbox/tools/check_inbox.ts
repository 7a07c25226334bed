import { z } from 'zod';
import type { QueuedMessage } from '../types.js';
import { timeoutSeconds } from './fields.js';
import { defineMailboxTool } from './mailbox-tool.js';
import { renderMail } from './render-mail.js';
import { usualSeconds } from './replies.js';
import { reportWaiting, timeoutMsOf } from './waiting.js';

/** Most messages that a caller may name as seen. */
const MOST_SEEN = 1_000;

export const checkInbox = defineMailboxTool({
  name: 'check_inbox',
  title: 'Look into an inbox',
  description: "An agent's messages, oldest first, without taking them.",
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    agent_name: z.string(),
    seen: z
      .array(z.string().max(200))
      .max(MOST_SEEN)
      .optional()
      .describe('Wait until there is another than these ids'),
    timeout_seconds: timeoutSeconds,
  }),
  async run(engine, caller, { agent_name, seen, timeout_seconds }) {
    const { principal, closing } = caller;
    if (!seen) return { messages: (await engine.mailbox.peek(principal, agent_name)).map(render) };
    const over = AbortSignal.timeout(timeoutMsOf(timeout_seconds ?? usualSeconds(caller)));
    const signal = AbortSignal.any([caller.signal, closing.signal, over]);
    const waiting = reportWaiting(caller);
    try {
      const fresh = await firstFresh(engine.mailbox.follow(principal, agent_name, signal), new Set(seen));
      if (fresh.length) return { messages: fresh.map(render) };
      return { nw: true, ...(closing.hasBegun ? { again: 1 } : {}) };
    } finally {
      waiting.end();
    }
  },
});

/** The messages that aren't known, as soon as there are any; none once the inbox is followed no more. */
async function firstFresh(
  inbox: AsyncGenerator<QueuedMessage[]>,
  seen: ReadonlySet<string>,
): Promise<QueuedMessage[]> {
  for await (const messages of inbox) {
    const fresh = messages.filter(({ messageId }) => !seen.has(messageId));
    if (fresh.length) return fresh;
  }
  return [];
}

function render({ state, ...message }: QueuedMessage): object {
  return { ...renderMail(message), state };
}
