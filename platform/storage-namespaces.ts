/** Records the namespaces that use a storage: what one doesn't know may belong to another. */
import type { Client } from '@temporalio/client';
import { CALL_LIMIT_MS } from './find-workflow.js';
import type { Storage } from './storage/index.js';

/** Keys of the namespaces, by namespace ID. */
const NAMESPACES_PREFIX = 'namespaces/';

/**
 * Records that the client's namespace uses the storage, unless `isDry`.
 *
 * @returns whether no other namespace has ever used it
 * @throws when Temporal can't be reached
 */
export async function isOnlyNamespace(storage: Storage, client: Client, isDry = false): Promise<boolean> {
  const { namespace } = client.options;
  const { namespaceInfo } = await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
    client.workflowService.describeNamespace({ namespace }),
  );
  const own = `${NAMESPACES_PREFIX}${namespaceInfo!.id!}`;
  if (!isDry && (await storage.size(own)) === undefined) await storage.put(own, Buffer.from(namespace));
  for await (const { key } of storage.list(NAMESPACES_PREFIX)) if (key !== own) return false;
  return true;
}
