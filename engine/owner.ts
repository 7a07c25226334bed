/** Finds owners of operations by workflow ID, the name that others in a tenant use. */
import { undefinedIf } from '../operations/errors.js';
import { workflowIdOf } from '../operations/token.js';
import { START_MEMO, tokenOf, type StartMemo } from '../operations/wire.js';
import type { TemporalClient } from './temporal.js';

export interface Owner {
  principal: string;
  token: string;
}

export async function ownerOf(
  temporal: TemporalClient,
  secret: Buffer,
  workflowId: string,
): Promise<Owner | undefined> {
  const found = await temporal.describe(workflowId).catch(undefinedIf('not_found'));
  const { principal } = (found?.memo?.[START_MEMO] as StartMemo | undefined) ?? {};
  if (principal === undefined) return undefined;
  const token = tokenOf(principal, workflowId);
  // A client could write any memo, but the workflow ID's tag is keyed.
  return workflowIdOf(principal, token, secret) === workflowId ? { principal, token } : undefined;
}
