/** Ending an agent's session. */
import { isKind, LonghaulError } from '../../operations/errors.js';
import { byeUpdate, type ByeRequest } from '../wire.js';
import { agentTakenOver } from './errors.js';
import { RefusedError, type MailboxWorkflows } from './workflows.js';

/** @param by the requesting agent. Absent for a person @throws LonghaulError as `Mailbox.bye` */
export async function endSession(
  workflows: MailboxWorkflows,
  principal: string,
  name: string,
  by: { name: string; epoch: number } | undefined,
): Promise<void> {
  const notFound = new LonghaulError('not_found', `there is no agent "${name}"`);
  const request: ByeRequest =
    by === undefined ? {} : by.name === name ? { epoch: by.epoch } : { parent: by.name };
  try {
    await workflows.updateInbox(principal, name, byeUpdate, request);
  } catch (error) {
    if (isKind(error, 'not_found')) throw notFound;
    if (!(error instanceof RefusedError)) throw error;
    if (error.why === 'repeat') return;
    if (error.why === 'gone') throw agentTakenOver();
    if (error.why === 'not_parent')
      throw new LonghaulError('wrong_state', `"${name}" is not a child of "${by!.name}"`);
    throw notFound;
  }
}
