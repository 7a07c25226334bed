/** Workflow IDs of operations, for commands that connect to Temporal. */
import type { Client } from '@temporalio/client';
import type { Settings } from '../platform/settings/index.js';
import { EXIT } from './client/exit-codes.js';
import { principalOfFlags } from './client/principal-flags.js';
import { CommandFailure } from './failure.js';

/**
 * The workflow of an operation. A workflow ID is taken as it is; a token of an authenticated caller belongs to one.
 *
 * @param caller flags that name the caller
 * @param also further meanings of the name, for the message
 * @throws CommandFailure with the exit code `notFound`
 */
export async function workflowIdOfToken(
  client: Client,
  { home }: Settings,
  token: string,
  caller: { tenant?: string; subject?: string },
  also = '',
): Promise<string> {
  const [{ workflowIdOf }, { loadSecret }, { findWorkflow }] = await Promise.all([
    import('../operations/token.js'),
    import('../platform/secret.js'),
    import('../platform/find-workflow.js'),
  ]);
  const isNamed = caller.tenant !== undefined || caller.subject !== undefined;
  const workflowId = isNamed ? workflowIdOf(await principalOfFlags(caller), token, loadSecret(home)) : token;
  if (await findWorkflow(client, workflowId)) return workflowId;
  const hint = isNamed
    ? ''
    : "; the token of a caller with authentication needs --subject, or the operation's workflow ID";
  throw new CommandFailure(`${token}: Temporal has no such operation${also}${hint}`, EXIT.notFound);
}
