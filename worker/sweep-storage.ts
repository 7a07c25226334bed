/** Removing what storage holds of operations that Temporal no longer knows, and of old messages. */
import type { Client } from '@temporalio/client';
import { completeDeletions } from '../platform/deletions.js';
import { encodeFileName, decodeFileName } from '../platform/file-name.js';
import {
  MAILBOX_PREFIX,
  OPERATION_PREFIXES,
  operationNameIn,
  prefixesOfName,
} from '../platform/storage-keys.js';
import type { Storage } from '../platform/storage.js';
import { CALL_LIMIT_MS, findWorkflow } from '../platform/find-workflow.js';
import { quote } from '../platform/visibility-query.js';

/** Whose values storage holds: a namespace each, by its ID. */
const NAMESPACES_PREFIX = 'namespaces/';

/**
 * How long values stay after the last change to any of their operation's, in milliseconds: 30 days. Temporal's retention comes
 * first; but operations that were resumed read the logs and artifacts of those before them.
 */
export const UNCHANGED_LIMIT_MS = 30 * 24 * 3600_000;

/**
 * Completes deletions that were cut off. Then removes the artifacts, logs and large values of operations that Temporal doesn't
 * know and that nothing was added to for {@link UNCHANGED_LIMIT_MS}, and the texts of messages that are as old: none is
 * kept for so long. In storage that several namespaces have used only the deletions are completed: what one namespace
 * doesn't know may be another's.
 *
 * @returns how many operations were cleared away
 * @throws when Temporal can't be reached; what is then not looked at stays
 */
export async function sweepStorage(storage: Storage, client: Client, now = Date.now()): Promise<number> {
  await completeDeletions(client, storage);
  if (!(await isOnlyNamespace(storage, client))) return 0;
  const limit = new Date(now - UNCHANGED_LIMIT_MS);
  await removeOlder(storage, MAILBOX_PREFIX, limit);
  const gone = await goneOperations(storage, client, limit);
  for (const prefix of gone.flatMap(prefixesOfName)) await removeOlder(storage, prefix, limit);
  return gone.length;
}

/** Names, in keys, of the workflows of which storage holds only old values, and Temporal knows nothing. */
async function goneOperations(storage: Storage, client: Client, limit: Date): Promise<string[]> {
  const latest = new Map<string, Date>();
  for (const prefix of OPERATION_PREFIXES)
    for await (const { key, changedAt } of storage.list(prefix)) {
      const name = operationNameIn(key);
      if (name === undefined) continue;
      const before = latest.get(name);
      if (!before || before < changedAt) latest.set(name, changedAt);
    }
  const gone: string[] = [];
  for (const [name, changedAt] of latest)
    if (changedAt < limit && !(await isKnown(client, name))) gone.push(name);
  return gone;
}

/** Does Temporal know the workflow of this name in keys? A name of another kind may be anybody's. */
async function isKnown(client: Client, name: string): Promise<boolean> {
  const origin = decodeFileName(name);
  if (!origin) return true;
  if ('text' in origin) return (await findWorkflow(client, origin.text)) !== undefined;
  // Of a long workflow ID only the beginning is there: those that begin so are compared by their whole name.
  const query = `WorkflowId STARTS_WITH ${quote(origin.beginning)}`;
  for await (const { workflowId } of client.workflow.list({ query }))
    if (encodeFileName(workflowId) === name) return true;
  return false;
}

async function removeOlder(storage: Storage, prefix: string, limit: Date): Promise<void> {
  for await (const { key, changedAt } of storage.list(prefix))
    if (changedAt < limit) await storage.remove(key);
}

/** Notes that this namespace uses the storage. Another cluster's namespace of the same name has another ID. */
async function isOnlyNamespace(storage: Storage, client: Client): Promise<boolean> {
  const { namespace } = client.options;
  const { namespaceInfo } = await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
    client.workflowService.describeNamespace({ namespace }),
  );
  const own = `${NAMESPACES_PREFIX}${namespaceInfo!.id!}`;
  if ((await storage.size(own)) === undefined) await storage.put(own, Buffer.from(namespace));
  for await (const { key } of storage.list(NAMESPACES_PREFIX)) if (key !== own) return false;
  return true;
}
