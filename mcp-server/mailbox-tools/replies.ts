/** What has become of a message, and waiting for its responses. */
import type { Engine } from '../../engine/index.js';
import type { MessageState, Reply } from '../../operations/mailbox.js';
import type { Caller } from '../caller.js';
import { longestWaitSeconds } from '../known-clients.js';
import { LONG_SECONDS, reportWaiting, timeoutMsOf } from './waiting.js';

/** Stands for the agent that has yet to take a message for anyone. */
const ANYONE = '*';

export interface RepliesAnswer {
  /** Responses by agent. */
  r?: Record<string, string>;
  /** Of the others: where the message is. */
  state?: Record<string, MessageState>;
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
  const quiet = reportWaiting(caller);
  try {
    const replies = await engine.mailbox.replies(principal, messageId, {
      wait,
      timeoutMs: timeoutMsOf(timeoutSeconds ?? usualSeconds(caller)),
      signal: AbortSignal.any([caller.signal, closing.signal]),
    });
    const answer = render(replies, wait);
    return answer.nw && closing.hasBegun ? { ...answer, again: 1 } : answer;
  } finally {
    quiet();
  }
}

/** How long a call waits for responses unless it says so, in seconds. */
export function usualSeconds({ clientName }: Caller): number {
  return Math.min(LONG_SECONDS, longestWaitSeconds(clientName));
}

function render(replies: Reply[], wait: ReplyWait | undefined): RepliesAnswer {
  const answered = replies.filter(({ state }) => state === 'answered');
  const others = replies.filter(({ state }) => state !== 'answered');
  const isMissing = wait === 'all' ? others.length > 0 : wait === 'any' && answered.length === 0;
  return {
    ...(answered.length
      ? { r: Object.fromEntries(answered.map(({ from = ANYONE, response = '' }) => [from, response])) }
      : {}),
    ...(others.length
      ? { state: Object.fromEntries(others.map(({ from = ANYONE, state }) => [from, state])) }
      : {}),
    ...(isMissing ? { nw: true } : {}),
  };
}
