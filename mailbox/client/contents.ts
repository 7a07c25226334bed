/** Texts of messages: small ones in the workflow's state, larger ones in storage, under a key that it holds. */
import { LonghaulError } from '../../operations/errors.js';
import { jsonBytes, type DeliveredMessage } from '../types.js';
import type { StoredMessage, StoredText } from '../wire.js';
import type { Storage } from '../../platform/storage.js';

/** @param key where it goes if it is larger than `inlineBytes` */
export async function storeText(
  storage: Storage,
  text: string,
  inlineBytes: number,
  key: string,
): Promise<StoredText> {
  if (jsonBytes(text) <= inlineBytes) return { text };
  await storage.put(key, Buffer.from(text));
  return { key };
}

/** A text that storage has lost must not block the messages behind it: it is said in its place. */
export async function readText(storage: Storage, stored: StoredText): Promise<string> {
  if ('text' in stored) return stored.text;
  try {
    return (await storage.read(stored.key)).toString();
  } catch (error) {
    if (error instanceof LonghaulError && error.kind === 'not_found') return LOST;
    throw error;
  }
}

const LOST = '(no longer in storage)';

export async function readMessage(storage: Storage, message: StoredMessage): Promise<DeliveredMessage> {
  const { id, from, mode, sentAt, replyTo, responseTo, deliveries } = message;
  const content = await readText(storage, message.content);
  const contextText = message.context && (await readText(storage, message.context));
  const context =
    contextText === undefined || contextText === LOST ? contextText : (JSON.parse(contextText) as unknown);
  return {
    messageId: id,
    ...(from === undefined ? {} : { from }),
    mode,
    content,
    ...(context === undefined ? {} : { context }),
    sentAt: new Date(sentAt).toISOString(),
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(responseTo === undefined ? {} : { responseTo }),
    delivery: deliveries,
  };
}
