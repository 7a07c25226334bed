/** What has become of a message, and waiting for its responses. */
import type { Engine } from '../../engine/index.js';
import type { MessageProgress, MessageState, Reply } from '../types.js';
import type { Caller } from '../../mcp-server/shared/caller.js';
import { longestWaitSeconds } from '../../mcp-server/shared/known-clients.js';
import { LONG_SECONDS, reportWaiting, timeoutMsOf } from './waiting.js';

/** Stands for the agent that has yet to take a message for anyone. */
const ANYONE = '*';

export interface RepliesAnswer {
  /** Responses by agent. */
  r?: Record<string, string>;
  /** Of the others: where the message is. */
  state?: Record<string, MessageState>;
  /** Of those that are at work on it: what they reported last. */
  progress?: Record<string, MessageProgress>;
  /** Of those where it is a dead letter: how often it was delivered. */
  deliveries?: Record<string, number>;
  /** The wait is over, and what it was for isn't there. */
  nw?: true;
  /** The server stops: call again. */
  again?: 1;
}

export type ReplyWait = 'any' | 'all';

/** @throws LonghaulError `not_found`, `unavailable` */
export async function repliesTo(
  engine: Engine,
  caller: Caller,
  messageId: string,
  wait: ReplyWait | undefined,
  timeoutSeconds: number | undefined,
): Promise<RepliesAnswer> {
  const { principal, closing } = caller;
  if (wait === undefined) return render(await engine.mailbox.replies(principal, messageId), undefined);
  const waiting = reportWaiting(caller);
  const news = new News();
  try {
    const replies = await engine.mailbox.replies(principal, messageId, {
      wait,
      timeoutMs: timeoutMsOf(timeoutSeconds ?? usualSeconds(caller)),
      signal: AbortSignal.any([caller.signal, closing.signal]),
      onChange: (now) => news.of(now).forEach(waiting.say),
    });
    const answer = render(replies, wait);
    return answer.nw && closing.hasBegun ? { ...answer, again: 1 } : answer;
  } finally {
    waiting.end();
  }
}

/** How long a call waits for responses unless it says so, in seconds. */
export function usualSeconds({ clientName }: Caller): number {
  return Math.min(LONG_SECONDS, longestWaitSeconds(clientName));
}

/** Reports of progress that a caller has not seen yet. */
class News {
  readonly #seen = new Map<string, string>();

  of(replies: Reply[]): string[] {
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
    ...(state ? { state } : {}),
    ...(progress ? { progress } : {}),
    ...(deliveries ? { deliveries } : {}),
    ...(isMissing ? { nw: true } : {}),
  };
}
