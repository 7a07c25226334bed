/** Replies to a message, and waiting for them. */
import type { MessageProgress, MessageState, Reply } from '../types.js';
import type { CallContext } from '../../mcp-server/call/call-context.js';
import { longestWaitSeconds } from '../../mcp-server/call/known-clients.js';
import type { MailboxCaller } from './mailbox-tool.js';
import { LONG_SECONDS, reportWaiting, timeoutMsOf } from './waiting.js';

/** Name for the unknown taker of a message for anyone. */
const ANYONE = '*';

export interface RepliesAnswer {
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

export type ReplyWait = 'any' | 'all';

/** @throws LonghaulError `not_found`, `unavailable` */
export async function repliesTo(
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

/** Default wait for responses, in seconds. */
export function defaultSeconds({ clientName }: CallContext): number {
  return Math.min(LONG_SECONDS, longestWaitSeconds(clientName));
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
  const each = <T>(what: (reply: Reply) => T | undefined): Record<string, T> | undefined => {
    const known = others.flatMap((reply): [string, T][] => {
      const value = what(reply);
      return value === undefined ? [] : [[reply.from ?? ANYONE, value]];
    });
    return known.length ? Object.fromEntries(known) : undefined;
  };
  const state = each((reply) => reply.state);
  const progress = each((reply) => reply.progress);
  const deliveries = each((reply) => reply.deliveries);
  const isMissing = wait === 'all' ? others.length > 0 : wait === 'any' && answered.length === 0;
  return {
    ...(answered.length
      ? { r: Object.fromEntries(answered.map(({ from = ANYONE, response = '' }) => [from, response])) }
      : {}),
    state,
    progress,
    deliveries,
    ...(isMissing ? { nw: true } : {}),
  };
}
