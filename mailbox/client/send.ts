/** Sends a message to one inbox, to several, or to the directory for anyone. Idempotent by message ID. */
import { messageIdOf } from './ids.js';
import { isKind, LonghaulError } from '../../operations/errors.js';
import { digestOf } from '../../operations/token.js';
import { INLINE_LIMIT_BYTES, OFFERS_LIMIT, SMALL_INLINE_LIMIT_BYTES, TTL_LIMIT_SECONDS } from '../limits.js';
import type { SentMessage } from '../state.js';
import { matchesSelector, type OutgoingMessage, type Selector, type SendResult } from '../types.js';
import { offerUpdate, publishUpdate, putUpdate } from '../wire.js';
import { mailboxKey } from '../../platform/storage/keys.js';
import type { Storage } from '../../platform/storage/index.js';
import { storeText } from './contents.js';
import { agentsOf } from './status.js';
import { forEachConcurrently } from './for-each.js';
import { inboxFull, capacityExceeded } from './errors.js';
import { RefusedError, type MailboxWorkflows } from './workflows.js';

/** Length of the digests in inboxes: 66 bits. */
const DIGEST_CHARACTERS = 11;

/**
 * @param from validated name of the sender
 * @throws LonghaulError `not_found` if no agent matches, `wrong_state` if an inbox is full, `conflict` if another message has the
 *   idempotency key, `unavailable`
 */
export async function sendMessage(
  workflows: MailboxWorkflows,
  storage: Storage,
  secret: Buffer,
  principal: string,
  outgoing: OutgoingMessage,
  from: string | undefined,
): Promise<SendResult> {
  const { to, replyTo, idempotencyKey } = outgoing;
  const [only] = 'names' in to && to.names.length === 1 ? to.names : [];
  const key = idempotencyKey === undefined ? undefined : JSON.stringify([from, to, idempotencyKey]);
  const messageId = messageIdOf(principal, only, secret, key);
  const message: SentMessage = {
    ...(await toStored(storage, secret, workflows.prefixOf(principal), messageId, outgoing, from)),
    ttlMs: (outgoing.ttlSeconds ?? TTL_LIMIT_SECONDS) * 1000,
  };
  if (replyTo !== undefined && replyTo !== from) await workflows.ensureInbox(principal, replyTo);
  if ('anyone' in to) {
    await offer(workflows, principal, { ...message, selector: to.anyone });
    return { messageId, recipients: [], refused: [] };
  }
  if (only !== undefined) {
    await put(workflows, principal, only, message);
    return { messageId, recipients: [only], refused: [] };
  }
  const wanted = 'names' in to ? [...new Set(to.names)] : await matchingAgents(workflows, principal, to.all);
  const names = await publish(workflows, principal, message, wanted);
  return { messageId, ...(await putAll(workflows, principal, names, message)) };
}

async function toStored(
  storage: Storage,
  secret: Buffer,
  mailbox: string,
  id: string,
  outgoing: OutgoingMessage,
  from: string | undefined,
): Promise<Omit<SentMessage, 'ttlMs'>> {
  const { content, mode, context, ttlSeconds, replyTo, maxDeliveries } = outgoing;
  // The ID is derived from the sender, the recipients and the key.
  const parts = { content, mode, context, ttlSeconds, replyTo, maxDeliveries };
  const digest =
    outgoing.idempotencyKey === undefined
      ? undefined
      : digestOf('send_message', parts, secret).slice(0, DIGEST_CHARACTERS);
  // Another message with the same idempotency key must not overwrite the first one's texts.
  const idInStorage = digest === undefined ? id : `${id} ${digest}`;
  const partKey = (part: 'content' | 'context') => mailboxKey(mailbox, idInStorage, part);
  const storedContext =
    context === undefined
      ? undefined
      : await storeText(storage, JSON.stringify(context), SMALL_INLINE_LIMIT_BYTES, partKey('context'));
  return {
    id,
    mode,
    content: await storeText(storage, content, INLINE_LIMIT_BYTES, partKey('content')),
    deliveries: 0,
    from,
    replyTo,
    maxDeliveries,
    digest,
    context: storedContext,
  };
}

/** @throws LonghaulError `wrong_state` if the inbox is full, `conflict` */
async function put(
  workflows: MailboxWorkflows,
  principal: string,
  name: string,
  message: SentMessage,
): Promise<void> {
  await ignoringRepeats(workflows.updateInbox(principal, name, putUpdate, message, 'if missing'), () =>
    inboxFull(name),
  );
}

async function offer(workflows: MailboxWorkflows, principal: string, message: SentMessage): Promise<void> {
  await ignoringRepeats(workflows.updateDirectory(principal, offerUpdate, message), () =>
    capacityExceeded(`${OFFERS_LIMIT} messages for anyone are already waiting`),
  );
}

/** Ignores the refusal of a repeat. @param full the error for a full inbox, the only other refusal besides `conflict` */
async function ignoringRepeats(update: Promise<unknown>, full: () => LonghaulError): Promise<void> {
  try {
    await update;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (error.why === 'conflict') throw conflict();
    if (error.why !== 'repeat') throw full();
  }
}

function conflict(): LonghaulError {
  return new LonghaulError(
    'conflict',
    'idempotency_key: expected the message that was sent with this key, or a new key; got another message. Nothing was sent',
  );
}

/**
 * Records a message's recipients. Returns them, or the recipients of an earlier send of the same message.
 *
 * @throws LonghaulError `conflict`
 */
async function publish(
  workflows: MailboxWorkflows,
  principal: string,
  { id, digest }: SentMessage,
  recipients: string[],
): Promise<string[]> {
  try {
    await workflows.updateDirectory(principal, publishUpdate, { id, recipients, digest });
    return recipients;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (error.why === 'conflict') throw conflict();
    const known = await workflows.publicationOf(principal, id);
    return known?.recipients ?? recipients;
  }
}

async function putAll(
  workflows: MailboxWorkflows,
  principal: string,
  names: string[],
  message: SentMessage,
): Promise<Pick<SendResult, 'recipients' | 'refused'>> {
  const recipients: string[] = [];
  const refused: SendResult['refused'] = [];
  await forEachConcurrently(names, async (name) => {
    try {
      await put(workflows, principal, name, message);
      recipients.push(name);
    } catch (error) {
      if (!isKind(error, 'wrong_state')) throw error;
      refused.push({ name, why: error.message });
    }
  });
  if (recipients.length === 0) throw capacityExceeded('the inboxes of all recipients are full');
  return { recipients: names.filter((name) => recipients.includes(name)), refused };
}

async function matchingAgents(
  workflows: MailboxWorkflows,
  principal: string,
  selector: Selector,
): Promise<string[]> {
  const agents = await agentsOf(workflows, principal, (agent) => matchesSelector(agent, selector));
  const names = agents.filter(({ state }) => state !== 'gone').map(({ name }) => name);
  if (names.length > 0) return names;
  throw new LonghaulError(
    'not_found',
    `to: no present agent matches ${JSON.stringify(selector)}; to have the message kept, send it to a name or to anyone`,
  );
}
