/** send_message and check_replies. */
import { z } from 'zod';
import { defined } from '../../operations/json/defined.js';
import type {
  MessageProgress,
  MessageState,
  OutgoingMessage,
  Recipients,
  Reply,
  Selector,
} from '../types.js';
import { agentId, defineMailboxTool, messageId, timeoutSeconds, type MailboxCaller } from './mailbox-tool.js';
import { continueBy, defaultSeconds, reportWaiting, timeoutMsOf } from './waiting.js';
import type { CallContext } from '../../mcp-server/call/call-context.js';

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
      from: senderOf(agent_id, from),
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

function senderOf(agentId: string | undefined, name: string | undefined): OutgoingMessage['from'] {
  if (agentId !== undefined) return { agentId };
  return name === undefined ? undefined : { name };
}

function recipientsOf({ to, type, capability, who }: Input): Recipients {
  const names = typeof to === 'string' ? [to] : to;
  const isForAll = (who ?? (names ? 'all' : 'anyone')) === 'all';
  const isByNameOnly = type === undefined && capability === undefined;
  if (names && isForAll && isByNameOnly) return { names };
  const selector: Selector = defined({ names, type, capability });
  return isForAll ? { all: selector } : { anyone: selector };
}

export const checkReplies = defineMailboxTool({
  name: 'check_replies',
  title: 'Check replies',
  description:
    'Responses to a message you sent: {"r": by agent, "state": of the others, "progress": what they reported}. nw: the wait timed out. dead_lettered: never acknowledged, see dead_letters.',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.strictObject({
    message_id: messageId,
    wait: z.enum(['any', 'all']).optional().describe('Wait until one, or every one, has responded'),
    timeout_seconds: timeoutSeconds,
  }),
  async run(engine, callContext, input) {
    const { message_id, wait, timeout_seconds } = input;
    if (wait) continueBy(callContext, 'check_replies', input, timeout_seconds ?? defaultSeconds(callContext));
    return {
      // The client didn't get the send's result, which had the ID.
      ...(callContext.isContinued ? { id: message_id } : {}),
      ...(await repliesTo(engine, callContext, message_id, wait, timeout_seconds)),
    };
  },
});

/** Name for the unknown taker of a message for anyone. */
const ANYONE = '*';

interface RepliesAnswer {
  /** Responses by agent. */
  r?: Record<string, string>;
  /** The message's state, where there is no response. */
  state?: Record<string, MessageState>;
  /** Latest reports of the agents that have it. */
  progress?: Record<string, MessageProgress>;
  /** Number of deliveries, where it is a dead letter. */
  deliveries?: Record<string, number>;
  /** The wait timed out. */
  nw?: true;
  /** The server is stopping: repeat the call. */
  again?: 1;
}

type ReplyWait = 'any' | 'all';

/** @throws LonghaulError `not_found`, `unavailable` */
async function repliesTo(
  engine: MailboxCaller,
  callContext: CallContext,
  messageId: string,
  wait: ReplyWait | undefined,
  timeoutSeconds: number | undefined,
): Promise<RepliesAnswer> {
  const { shutdown } = callContext;
  if (wait === undefined) return render(await engine.mailbox.replies(engine.principal, messageId), undefined);
  const waiting = reportWaiting(callContext);
  const progress = new UnseenProgress();
  try {
    const replies = await engine.mailbox.replies(engine.principal, messageId, {
      wait,
      timeoutMs: timeoutMsOf(timeoutSeconds ?? defaultSeconds(callContext)),
      signal: AbortSignal.any([callContext.signal, shutdown.signal]),
      onChange: (now) => progress.linesOf(now).forEach(waiting.report),
    });
    const answer = render(replies, wait);
    return answer.nw && shutdown.hasBegun ? { ...answer, again: 1 } : answer;
  } finally {
    waiting.end();
  }
}

class UnseenProgress {
  readonly #seen = new Map<string, string>();

  linesOf(replies: Reply[]): string[] {
    return replies.flatMap(({ from = ANYONE, progress }) => {
      if (!progress || this.#seen.get(from) === progress.at) return [];
      this.#seen.set(from, progress.at);
      return [progressLine(from, progress)];
    });
  }
}

function progressLine(from: string, { text, fraction }: MessageProgress): string {
  return `${from}: ${text}${fraction === undefined ? '' : ` (${Math.round(fraction * 100)} %)`}`;
}

function render(replies: Reply[], wait: ReplyWait | undefined): RepliesAnswer {
  const answered = replies.filter(({ state }) => state === 'answered');
  const others = replies.filter(({ state }) => state !== 'answered');
  const isMissing = wait === 'all' ? others.length > 0 : wait === 'any' && answered.length === 0;
  return {
    r: byAgent(answered, ({ response = '' }) => response),
    state: byAgent(others, ({ state }) => state),
    progress: byAgent(others, ({ progress }) => progress),
    deliveries: byAgent(others, ({ deliveries }) => deliveries),
    ...(isMissing ? { nw: true } : {}),
  };
}

/** Known values of the replies, by agent. Undefined if there are none. */
function byAgent<T>(replies: Reply[], what: (reply: Reply) => T | undefined): Record<string, T> | undefined {
  const known = replies.flatMap((reply): [string, T][] => {
    const value = what(reply);
    return value === undefined ? [] : [[reply.from ?? ANYONE, value]];
  });
  return known.length ? Object.fromEntries(known) : undefined;
}
