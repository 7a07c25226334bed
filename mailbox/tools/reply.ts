/** What a wait is answered with: the shortest shape that holds it. */
import type { ReceiveResult } from '../types.js';
import type { Ended } from './operations.js';

/**
 * Nothing came: `{nw: true}`. A message: its `id` and text `m`, and what is new with it: `from` and `mode` where they
 * differ from the message before, `ctx` and `re` (the message that it responds to) where it has them, `again` when it was
 * given before. The message before is the one that the agent acknowledged last in this life, so it knows that one.
 */
export type Answer =
  | { nw: true; again?: 1 }
  | {
      id: string;
      from?: string | null;
      mode?: string;
      m: string;
      ctx?: unknown;
      re?: string;
      again?: 1;
      ops?: Ended;
    }
  | { ops: Ended }
  | { gone: true }
  | { bye: true };

export const NO_WORK: Answer = { nw: true };
/** The server stops: the agent shall come back, and reaches another one. */
export const COME_BACK: Answer = { nw: true, again: 1 };

export function renderMessage({
  message,
  previous,
}: ReceiveResult & { kind: 'message' }): Answer & { id: string } {
  const { messageId, from, mode, content, context, responseTo, delivery } = message;
  return {
    id: messageId,
    ...(from === previous?.from ? {} : { from: from ?? null }),
    ...(mode === previous?.mode ? {} : { mode }),
    m: content,
    ...(context === undefined ? {} : { ctx: context }),
    ...(responseTo === undefined ? {} : { re: responseTo }),
    ...(delivery > 1 ? { again: 1 } : {}),
  };
}
