/** A message as the workflow that takes it keeps it: its times are the workflow's, since the sender's clock may be wrong. */
import type { SentMessage, StoredMessage } from '../state.js';

export function received({ ttlMs, ...message }: SentMessage): StoredMessage {
  // Another workflow of the mailbox, or a server of an earlier release, has set its times.
  if (ttlMs === undefined) return message;
  const now = Date.now();
  return { ...message, sentAt: now, expiresAt: now + ttlMs };
}
