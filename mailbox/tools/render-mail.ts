/** Renders a message of an inbox or a dead letter. */
import type { DeliveredMessage } from '../types.js';

export function renderMail({
  messageId,
  from,
  mode,
  content,
  context,
  sentAt,
  responseTo,
}: Omit<DeliveredMessage, 'delivery'>): object {
  return {
    id: messageId,
    from,
    mode,
    m: content,
    ctx: context,
    re: responseTo,
    sent: sentAt,
  };
}
