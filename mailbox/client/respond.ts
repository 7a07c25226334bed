/** An agent's calls about a message that it has: the response, and progress reports. */
import { createHash } from 'node:crypto';
import { LonghaulError } from '../../operations/errors.js';
import { mailboxKey } from '../../platform/storage/keys.js';
import { SMALL_INLINE_LIMIT_BYTES } from '../limits.js';
import type { MessageProgress } from '../types.js';
import { reportUpdate, respondUpdate } from '../wire.js';
import { storeText } from './contents.js';
import { agentTakenOver } from './errors.js';
import type { AgentSession } from './presence.js';
import { RefusedError } from './workflows.js';

/** @throws LonghaulError as `Mailbox.respond` */
export async function respond(
  { workflows, name, epoch }: AgentSession,
  messageId: string,
  response: string,
): Promise<void> {
  const digest = createHash('sha256').update(response).digest('base64url').slice(0, 16);
  const key = mailboxKey(workflows.prefix, `${messageId} ${name} ${digest}`, 'response');
  const stored = await storeText(workflows.temporal.storage, response, SMALL_INLINE_LIMIT_BYTES, key);
  const request = { epoch, id: messageId, response: stored, digest };
  try {
    await workflows.inbox(name).update(respondUpdate, request);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (error.why !== 'repeat') throw refusalOf(error, 'response_to', messageId);
  }
}

/** @throws LonghaulError as `Mailbox.report` */
export async function report(
  { workflows, name, epoch }: AgentSession,
  messageId: string,
  { text, fraction }: Omit<MessageProgress, 'at'>,
): Promise<boolean> {
  const request = { epoch, id: messageId, progress: { text, fraction } };
  try {
    await workflows.inbox(name).update(reportUpdate, request);
    return true;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (error.why === 'too_soon') return false;
    throw refusalOf(error, 'message_id', messageId);
  }
}

/** @param where name of the argument with the message's ID */
function refusalOf({ why }: RefusedError, where: string, messageId: string): LonghaulError {
  switch (why) {
    case 'unknown_message':
      return new LonghaulError(
        'not_found',
        `${where}: this agent does not have the message ${JSON.stringify(messageId)}, or no longer has it`,
      );
    case 'answered':
      return new LonghaulError(
        'wrong_state',
        `${where}: ${messageId} was already answered, with another response`,
      );
    case 'bye':
      return new LonghaulError('wrong_state', 'agent_id: the session of this agent was ended');
    default:
      return agentTakenOver();
  }
}
