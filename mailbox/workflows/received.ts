/** A message as the workflow that takes it keeps it. Its times are the workflow's, since a server's clock may be wrong. */
import type { SentMessage, StoredMessage } from '../state.js';

export function received({ ttlMs, ...message }: SentMessage): StoredMessage {
  const now = Date.now();
  return { ...message, sentAt: now, expiresAt: now + ttlMs };
}
