import { z } from 'zod';
import { defined } from '../../operations/json/defined.js';
import type { Recipients, Selector } from '../types.js';
import { agentId, timeoutSeconds } from './fields.js';
import { defineMailboxTool } from './mailbox-tool.js';
import { repliesTo, defaultSeconds } from './replies.js';
import { continueBy } from './waiting.js';

const DEFAULT_MODE = 'task';

const input = z.strictObject({
  content: z.string(),
  to: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe('Agent or agents, registered or not. Default: anyone'),
  type: z.string().optional().describe('Only agents of this type'),
  capability: z.string().optional().describe('Only agents with this'),
  who: z
    .enum(['all', 'anyone'])
    .optional()
    .describe('All of them, or the first free one. Default: all with to, else anyone'),
  mode: z.string().default(DEFAULT_MODE).describe('E.g. task, challenge'),
  context: z.unknown().optional(),
  agent_id: agentId.optional().describe('Yours, if you have one'),
  from: z.string().optional().describe('Your name, if you have no agent_id'),
  reply_to: z.string().optional().describe('Agent that gets the response as a message'),
  ttl_seconds: z.number().optional(),
  max_deliveries: z.number().optional().describe('Before it becomes a dead letter. Default: 5'),
  idempotency_key: z.string().min(1).max(200).optional().describe('The same key and message is sent once'),
  wait_for_reply: z.union([z.boolean(), z.enum(['any', 'all'])]).default(false),
  timeout_seconds: timeoutSeconds,
});

type Input = z.output<typeof input>;

export const sendMessage = defineMailboxTool({
  name: 'send_message',
  title: 'Send a message',
  description:
    'Sends a message to agents. Returns its id, for check_replies; with wait_for_reply also the responses.',
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  input,
  async run(engine, callContext, args) {
    const { content, mode, context, agent_id, from, reply_to, ttl_seconds, idempotency_key } = args;
    const { max_deliveries, timeout_seconds } = args;
    const { messageId, recipients, refused } = await engine.mailbox.send(engine.principal, {
      to: recipientsOf(args),
      content,
      mode,
      context,
      ...(agent_id === undefined
        ? from === undefined
          ? {}
          : { from: { name: from } }
        : { from: { agentId: agent_id } }),
      replyTo: reply_to,
      ttlSeconds: ttl_seconds,
      maxDeliveries: max_deliveries,
      idempotencyKey: idempotency_key,
    });
    const sent = {
      id: messageId,
      ...(typeof args.to !== 'string' && recipients.length ? { to: recipients } : {}),
      ...(refused.length ? { refused: Object.fromEntries(refused.map(({ name, why }) => [name, why])) } : {}),
    };
    const wait = args.wait_for_reply === true ? 'all' : args.wait_for_reply;
    if (!wait) return sent;
    const continued = { message_id: messageId, wait };
    continueBy(callContext, 'check_replies', continued, timeout_seconds ?? defaultSeconds(callContext));
    return { ...sent, ...(await repliesTo(engine, callContext, messageId, wait, timeout_seconds)) };
  },
});

function recipientsOf({ to, type, capability, who }: Input): Recipients {
  const names = typeof to === 'string' ? [to] : to;
  const isForAll = (who ?? (names ? 'all' : 'anyone')) === 'all';
  const isByNameOnly = type === undefined && capability === undefined;
  if (names && isForAll && isByNameOnly) return { names };
  const selector: Selector = defined({ names, type, capability });
  return isForAll ? { all: selector } : { anyone: selector };
}
