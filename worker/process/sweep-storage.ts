/** Removes stored data of operations that Temporal no longer knows, and texts of old messages. */
import type { Client } from '@temporalio/client';
import { interruptedDeletions } from '../../platform/temporal/deletions.js';
import { encodeFileName, decodeFileName } from '../../platform/home/file-name.js';
import {
  MAILBOX_PREFIX,
  OPERATION_PREFIXES,
  operationNameIn,
  prefixesOfName,
} from '../../platform/storage/keys.js';
import type { Storage } from '../../platform/storage/index.js';
import { findWorkflow } from '../../platform/temporal/find-workflow.js';
import { listWorkflows } from '../../platform/temporal/list-workflows.js';
import { isOnlyNamespace, storedItem, sweep, type SweepItem } from '../../platform/storage/sweep-plan.js';
import { quote } from '../../platform/temporal/visibility-query.js';

/** 30 days in milliseconds, longer than Temporal's retention: resumed operations read logs and artifacts of earlier ones. */
export const UNCHANGED_LIMIT_MS = 30 * 24 * 3600_000;

/**
 * Plans the sweep. It contains interrupted deletions, and artifacts, logs and large values of operations that Temporal doesn't
 * know and that are unchanged for {@link UNCHANGED_LIMIT_MS}. It also contains message texts of that age.
 * If several namespaces have used the storage, it contains only the deletions: another namespace may know the operation.
 *
 * @param isDry whether to change nothing, not even the record that this namespace uses the storage
 * @throws when Temporal can't be reached; the plan lacks operations that weren't checked
 */
export async function* planStorageSweep(
  storage: Storage,
  client: Client,
  now = Date.now(),
  isDry = false,
): AsyncGenerator<SweepItem> {
  yield* interruptedDeletions(client, storage);
  if (!(await isOnlyNamespace(storage, client, isDry))) return;
  const limit = new Date(now - UNCHANGED_LIMIT_MS);
  const reason = `unchanged since ${limit.toISOString().slice(0, 10)}`;
  for await (const key of olderKeys(storage, MAILBOX_PREFIX, limit))
    yield storedItem(storage, { kind: 'mailbox', name: key, reason, keys: [key] });
  for (const name of await expiredOperations(storage, client, limit)) {
    const keys: string[] = [];
    for (const prefix of prefixesOfName(name))
      for await (const key of olderKeys(storage, prefix, limit)) keys.push(key);
    const origin = decodeFileName(name);
    const shown = origin && 'text' in origin ? origin.text : name;
    yield storedItem(storage, {
      kind: 'values',
      name: shown,
      reason: `Temporal doesn't know the operation, ${reason}`,
      keys,
    });
  }
}

/** @returns number of removed operations. @throws when Temporal can't be reached */
export async function sweepStorage(storage: Storage, client: Client, now = Date.now()): Promise<number> {
  const kinds = await sweep(planStorageSweep(storage, client, now));
  return kinds.filter((kind) => kind === 'values').length;
}

/** Encoded names of workflows that Temporal doesn't know and whose stored values are all old. */
async function expiredOperations(storage: Storage, client: Client, limit: Date): Promise<string[]> {
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

/** Whether Temporal knows the workflow of this encoded name; true for names of unknown format. */
async function isKnown(client: Client, name: string): Promise<boolean> {
  const origin = decodeFileName(name);
  if (!origin) return true;
  if ('text' in origin) return (await findWorkflow(client, origin.text)) !== undefined;
  // Encoded names of long workflow IDs hold only a prefix of the ID, so the encoded names are compared.
  const query = `WorkflowId STARTS_WITH ${quote(origin.beginning)}`;
  for await (const { workflowId } of listWorkflows(client, query))
    if (encodeFileName(workflowId) === name) return true;
  return false;
}

async function* olderKeys(storage: Storage, prefix: string, limit: Date): AsyncGenerator<string> {
  for await (const { key, changedAt } of storage.list(prefix)) if (changedAt < limit) yield key;
}
