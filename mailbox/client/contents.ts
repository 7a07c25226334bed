/** Texts of messages: small ones stay in the workflow's state, larger ones go to storage. */
import { undefinedIf } from '../../operations/errors.js';
import { jsonBytes } from '../json-size.js';
import type { StoredMessage, StoredText } from '../state.js';
import type { DeliveredMessage } from '../types.js';
import type { Storage } from '../../platform/storage/index.js';

/** @param key storage key, used if the text is larger than `inlineBytes` */
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

/** Returns a placeholder for a text that storage has lost, since it must not block the messages behind it. */
export async function readText(storage: Storage, stored: StoredText): Promise<string> {
  if ('text' in stored) return stored.text;
  const bytes = await storage.read(stored.key).catch(undefinedIf('not_found'));
  return bytes?.toString() ?? LOST;
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
    mode,
    content,
    sentAt: new Date(sentAt).toISOString(),
    delivery: deliveries,
    from,
    context,
    replyTo,
    responseTo,
  };
}
