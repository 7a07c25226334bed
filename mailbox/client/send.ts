/** Sends a message to one inbox, to several, or to the directory for anyone. Idempotent by message ID. */
import type { UpdateDefinition } from '@temporalio/common';
import { messageIdOf } from './ids.js';
import { isKind, LonghaulError } from '../../operations/errors.js';
import { digestOf } from '../../operations/token.js';
import { INLINE_LIMIT_BYTES, OFFERS_LIMIT, SMALL_INLINE_LIMIT_BYTES, TTL_LIMIT_SECONDS } from '../limits.js';
import type { SentMessage } from '../state.js';
import { matchesSelector, type OutgoingMessage, type Selector, type SendResult } from '../types.js';
import { offerUpdate, publishUpdate, putUpdate } from '../wire.js';
import { mailboxKey } from '../../platform/storage/keys.js';
import { storeText } from './contents.js';
import { agentsOf } from './status.js';
import { mapConcurrently } from './map-concurrently.js';
import { inboxFull, capacityExceeded } from './errors.js';
import { RefusedError, type MailboxWorkflow, type MailboxWorkflows } from './workflows.js';

/** Length of the digests in inboxes: 66 bits. */
const DIGEST_CHARACTERS = 11;

/**
 * @param from validated name of the sender
 * @throws LonghaulError `not_found` if no agent matches, `wrong_state` if an inbox is full, `conflict` if another message has the
 *   idempotency key, `unavailable`
 */
export async function sendMessage(
  workflows: MailboxWorkflows,
  outgoing: OutgoingMessage,
  from: string | undefined,
): Promise<SendResult> {
  const { to, replyTo, idempotencyKey } = outgoing;
  const [only] = 'names' in to && to.names.length === 1 ? to.names : [];
  const key = idempotencyKey === undefined ? undefined : JSON.stringify([from, to, idempotencyKey]);
  const messageId = messageIdOf(workflows.principal, only, workflows.secret, key);
  const message = await toStored(workflows, messageId, outgoing, from);
  const directory = workflows.directory();
  if (replyTo !== undefined && replyTo !== from) await workflows.inbox(replyTo).ensure();
  if ('anyone' in to) {
    const full = () => capacityExceeded(`${OFFERS_LIMIT} messages for anyone are already waiting`);
    await sendOnce(directory, offerUpdate, { ...message, selector: to.anyone }, full);
    return { messageId, recipients: [], refused: [] };
  }
  const put = (name: string) => sendOnce(workflows.inbox(name), putUpdate, message, () => inboxFull(name));
  if (only !== undefined) {
    await put(only);
    return { messageId, recipients: [only], refused: [] };
  }
  const wanted = 'names' in to ? [...new Set(to.names)] : await matchingAgents(workflows, to.all);
  const publication = { id: messageId, recipients: wanted, digest: message.digest };
  const isNew = await sendOnce(directory, publishUpdate, publication);
  const known = isNew ? undefined : await workflows.publicationOf(messageId);
  return { messageId, ...(await putAll(known?.recipients ?? wanted, put)) };
}

async function toStored(
  { temporal: { storage }, secret, prefix }: MailboxWorkflows,
  id: string,
  outgoing: OutgoingMessage,
  from: string | undefined,
): Promise<SentMessage> {
  const { content, mode, context, ttlSeconds, replyTo, maxDeliveries } = outgoing;
  // The ID is derived from the sender, the recipients and the key.
  const parts = { content, mode, context, ttlSeconds, replyTo, maxDeliveries };
  const digest =
    outgoing.idempotencyKey === undefined
      ? undefined
      : digestOf('send_message', parts, secret).slice(0, DIGEST_CHARACTERS);
  // Another message with the same idempotency key must not overwrite the first one's texts.
  const idInStorage = digest === undefined ? id : `${id} ${digest}`;
  const store = (part: 'content' | 'context', text: string, inlineBytes: number) =>
    storeText(storage, text, inlineBytes, mailboxKey(prefix, idInStorage, part));
  return {
    id,
    mode,
    content: await store('content', content, INLINE_LIMIT_BYTES),
    deliveries: 0,
    from,
    replyTo,
    maxDeliveries,
    digest,
    context:
      context === undefined
        ? undefined
        : await store('context', JSON.stringify(context), SMALL_INLINE_LIMIT_BYTES),
    ttlMs: (ttlSeconds ?? TTL_LIMIT_SECONDS) * 1000,
  };
}

/**
 * Sends a message to a workflow, which refuses a repeat.
 *
 * @param full makes the error for a workflow without room
 * @returns false for a repeat
 * @throws LonghaulError `conflict` if another message has the idempotency key; `wrong_state`, `unavailable`
 */
async function sendOnce<A>(
  workflow: MailboxWorkflow<unknown>,
  update: UpdateDefinition<void, [A]>,
  argument: A,
  full?: () => LonghaulError,
): Promise<boolean> {
  try {
    await workflow.update(update, argument, { starts: 'if missing' });
    return true;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (error.why === 'repeat') return false;
    if (error.why !== 'conflict') throw full?.() ?? error;
    throw new LonghaulError(
      'conflict',
      'idempotency_key: expected the message that was sent with this key, or a new key; got another message. Nothing was sent',
    );
  }
}

async function putAll(
  names: string[],
  put: (name: string) => Promise<unknown>,
): Promise<Pick<SendResult, 'recipients' | 'refused'>> {
  const problems = await mapConcurrently(names, async (name): Promise<string | undefined> => {
    try {
      await put(name);
      return undefined;
    } catch (error) {
      if (!isKind(error, 'wrong_state')) throw error;
      return error.message;
    }
  });
  const refused = names.flatMap((name, index) => {
    const why = problems[index];
    return why === undefined ? [] : [{ name, why }];
  });
  if (refused.length === names.length) throw capacityExceeded('the inboxes of all recipients are full');
  return { recipients: names.filter((_, index) => problems[index] === undefined), refused };
}

async function matchingAgents(workflows: MailboxWorkflows, selector: Selector): Promise<string[]> {
  const agents = await agentsOf(workflows, (agent) => matchesSelector(agent, selector));
  const names = agents.filter(({ state }) => state !== 'gone').map(({ name }) => name);
  if (names.length > 0) return names;
  throw new LonghaulError(
    'not_found',
    `to: no present agent matches ${JSON.stringify(selector)}; to have the message kept, send it to a name or to anyone`,
  );
}
