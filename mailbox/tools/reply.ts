/** Result of a wait, in its shortest form. */
import type { ReceiveResult } from '../types.js';
import type { EndedOperations } from './operations.js';

/**
 * No message: `{nw: true}`. A message: its `id` and text `m`; `from` and `mode` if they differ from those of the message that
 * the agent acknowledged last in this session; `ctx` and `re` (the message that it responds to) if it has them; `again` if it
 * was delivered before.
 */
export type WaitResult =
  | { nw: true; again?: 1 }
  | {
      id: string;
      from?: string | null;
      mode?: string;
      m: string;
      ctx?: unknown;
      re?: string;
      again?: 1;
      ops?: EndedOperations;
    }
  | { ops: EndedOperations }
  | { gone: true }
  | { bye: true };

export const NO_WORK: WaitResult = { nw: true };
/** The server stops: the agent's next call reaches another one. */
export const CALL_AGAIN: WaitResult = { nw: true, again: 1 };

export function renderMessage({
  message,
  previous,
}: ReceiveResult & { kind: 'message' }): WaitResult & { id: string } {
  const { messageId, from, mode, content, context, responseTo, delivery } = message;
  return {
    id: messageId,
    ...(from === previous?.from ? {} : { from: from ?? null }),
    ...(mode === previous?.mode ? {} : { mode }),
    m: content,
    ctx: context,
    re: responseTo,
    ...(delivery > 1 ? { again: 1 } : {}),
  };
}
