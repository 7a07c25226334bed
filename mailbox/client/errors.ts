/** Errors that several calls of the mailbox throw. */
import { LonghaulError } from '../../operations/errors.js';
import { INBOX_LIMIT } from '../limits.js';

/** `wrong_state`, retryable. @param why the message up to the advice */
export function capacityExceeded(why: string): LonghaulError {
  return new LonghaulError('wrong_state', `${why}; try again when some are done`, { retryable: true });
}

export function inboxFull(name: string): LonghaulError {
  return capacityExceeded(`the inbox of "${name}" is full: ${INBOX_LIMIT} messages wait in it`);
}

export function inboxNotFound(name: string): LonghaulError {
  return new LonghaulError('not_found', `there is no agent "${name}"; nothing was sent to it`);
}

/** `not_found`: another principal's ID, or one that its inbox doesn't know. */
export function agentNotFound(): LonghaulError {
  return new LonghaulError('not_found', 'agent_id: unknown agent; register first');
}

/** `wrong_state`: a later registration has the agent's name. */
export function agentTakenOver(): LonghaulError {
  return new LonghaulError('wrong_state', 'agent_id: another registration has taken over this name');
}
