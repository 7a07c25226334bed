/** Removing what storage holds of operations that Temporal no longer knows. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { OPERATION_PREFIXES, workflowIdIn, type Storage } from '../platform/storage.js';

const CALL_LIMIT_MS = 5_000;

/** Whose values storage holds: a namespace each, by its ID. */
const NAMESPACES_PREFIX = 'namespaces/';

/**
 * How long values stay after the last change to any of their operation's, in milliseconds: 30 days. Temporal's retention comes
 * first; but operations that were resumed read the logs and artifacts of those before them.
 */
export const UNCHANGED_LIMIT_MS = 30 * 24 * 3600_000;

/**
 * Removes the artifacts, logs and large values of operations that Temporal doesn't know and that nothing was added to for
 * {@link UNCHANGED_LIMIT_MS}. Storage that several namespaces have used is left as it is: what one doesn't know may be another's.
 *
 * @returns how many operations were cleared away
 * @throws when Temporal can't be reached; what is then not looked at stays
 */
export async function sweepStorage(storage: Storage, client: Client, now = Date.now()): Promise<number> {
  if (!(await isOnlyNamespace(storage, client))) return 0;
  const changedAt = new Map<string, number>();
  for await (const { key, changedAt: at } of operationValues(storage)) {
    const workflowId = workflowIdIn(key);
    if (workflowId === undefined) continue;
    changedAt.set(workflowId, Math.max(changedAt.get(workflowId) ?? 0, at.getTime()));
  }
  const limit = now - UNCHANGED_LIMIT_MS;
  const gone = new Set<string>();
  for (const [workflowId, at] of changedAt)
    if (at < limit && !(await isKnown(workflowId, client))) gone.add(workflowId);
  if (!gone.size) return 0;
  for await (const { key, changedAt: at } of operationValues(storage))
    if (at.getTime() < limit && gone.has(workflowIdIn(key) ?? '')) await storage.remove(key);
  return gone.size;
}

async function* operationValues(storage: Storage): ReturnType<Storage['list']> {
  for (const prefix of OPERATION_PREFIXES) yield* storage.list(prefix);
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

async function isKnown(workflowId: string, client: Client): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
