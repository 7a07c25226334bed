/** Result of a wait, in its shortest form. */
import type { ReceiveResult } from '../types.js';
import type { EndedOperations } from './operations.js';

/**
 * No message: `{nw: true}`. A message: its `id` and text `m`. `from` and `mode` appear if they differ from the message acknowledged
 * last in this session. `ctx`, `re` (the message that it responds to) and `again` (delivered before) appear if they apply.
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
/** The server is stopping: the agent's next call reaches another one. */
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
