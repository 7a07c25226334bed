/** Reads, resends and drops dead letters. */
import { recipientOf } from './ids.js';
import { isKind, LonghaulError } from '../../operations/errors.js';
import { DEAD_LETTERS_KEPT_MS } from '../limits.js';
import type { DeadLetter, DeadLetterRequest } from '../types.js';
import { assertAgentName } from '../validate.js';
import { deadLettersQuery, settleDeadLetterUpdate, type SettleDeadLetterRequest } from '../wire.js';
import { readMessage } from './contents.js';
import { inboxFull, inboxNotFound, agentTakenOver } from './errors.js';
import { RefusedError, type MailboxWorkflows } from './workflows.js';

/** Oldest first. @throws LonghaulError `invalid_arguments`, `not_found`, `unavailable` */
export async function deadLettersOf(workflows: MailboxWorkflows, inbox: string): Promise<DeadLetter[]> {
  assertAgentName(inbox, 'agent_name');
  const letters = await workflows.inbox(inbox).query(deadLettersQuery);
  if (!letters) throw inboxNotFound(inbox);
  const { temporal } = workflows;
  const oldest = (await temporal.nowMs()) - DEAD_LETTERS_KEPT_MS;
  return Promise.all(
    letters
      .filter(({ deadAt }) => deadAt > oldest)
      .map(async (letter) => {
        const { delivery: deliveries, ...message } = await readMessage(temporal.storage, letter);
        return { ...message, inbox, deliveries, deadAt: new Date(letter.deadAt).toISOString() };
      }),
  );
}

/**
 * @param by the requesting agent. Absent for a person
 * @throws LonghaulError `not_found` without such a dead letter; `wrong_state` if it isn't the agent's, the agent was taken over, or
 *   (retryable) the inbox is full; `unavailable`
 */
export async function settleDeadLetter(
  workflows: MailboxWorkflows,
  { messageId, action }: Omit<DeadLetterRequest, 'by'>,
  by: { name: string; epoch: number } | undefined,
): Promise<void> {
  const inbox = await inboxWith(workflows, messageId);
  const request: SettleDeadLetterRequest = { id: messageId, action, ...(by ? { by } : {}) };
  try {
    await workflows.inbox(inbox).update(settleDeadLetterUpdate, request);
  } catch (error) {
    if (error instanceof RefusedError) throw refusalOf(error, inbox);
    if (isKind(error, 'not_found')) throw noDeadLetter();
    throw error;
  }
}

/** Name of the inbox that has a message: from its ID or, for a message for anyone, from the directory. */
async function inboxWith(workflows: MailboxWorkflows, messageId: string): Promise<string> {
  const name = recipientOf(messageId);
  if (name === undefined) throw noDeadLetter();
  if (name !== '') return name;
  const publication = await workflows.publicationOf(messageId);
  const taker = publication?.isOffer ? publication.recipients[0] : undefined;
  if (taker === undefined) throw noDeadLetter();
  return taker;
}

function noDeadLetter(): LonghaulError {
  return new LonghaulError(
    'not_found',
    'message_id: no such dead letter, or it was already resent or dropped',
  );
}

function refusalOf({ why }: RefusedError, inbox: string): LonghaulError {
  switch (why) {
    case 'unknown_message':
      return noDeadLetter();
    case 'full':
      return inboxFull(inbox);
    case 'not_yours':
      return new LonghaulError(
        'wrong_state',
        `agent_id: expected the owner of the inbox "${inbox}" or the sender of the message; got another agent`,
      );
    default:
      return agentTakenOver();
  }
}
