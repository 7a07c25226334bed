/** Removes workspaces of operations that can no longer be resumed. */
import { randomUUID } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { START_MEMO, type StartMemo } from '../../operations/wire.js';
import { findWorkflow } from '../../platform/find-workflow.js';
import type { Storage } from '../../platform/storage/index.js';
import { isOnlyNamespace } from '../../platform/storage-namespaces.js';
import { readJson } from './files.js';
import { runningSteps } from './running.js';
import { operationFile, workspacesFolder, type OperationFile } from './layout.js';

/** Prefix that a folder gets before its removal, so that no half-removed workspace is used. */
const REMOVED = '.removed-';

/**
 * Removes workspaces whose operation is closed and past its retention, or unknown to Temporal. Workspaces of other
 * namespaces stay, also of one with the same name in another Temporal: where several namespaces have used the storage, all
 * workspaces of unknown operations do. That of a running step stays until a worker has ended the step.
 *
 * @throws when Temporal can't be reached; workspaces that were not checked stay
 */
export async function sweepWorkspaces(
  home: string,
  storage: Storage,
  client: Client,
  now = Date.now(),
): Promise<void> {
  const folder = workspacesFolder(home);
  const isKept = !(await isOnlyNamespace(storage, client));
  const running = new Set((await runningSteps(home)).map(({ operationId }) => operationId));
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (!name.startsWith(REMOVED)) {
      const operation = await readJson<OperationFile>(operationFile(path));
      if (operation?.namespace !== client.options.namespace) continue;
      if (running.has(operation.workflowId) || (await isNeeded(operation.workflowId, client, now, isKept)))
        continue;
      const removed = join(folder, `${REMOVED}${randomUUID()}`);
      await rename(path, removed).catch(() => undefined);
      await rm(removed, { recursive: true, force: true });
    } else await rm(path, { recursive: true, force: true });
  }
}

/** @param isUnknownKept whether an operation that Temporal doesn't know may be another namespace's */
async function isNeeded(
  workflowId: string,
  client: Client,
  now: number,
  isUnknownKept: boolean,
): Promise<boolean> {
  const found = await findWorkflow(client, workflowId);
  if (!found) return isUnknownKept;
  if (!found.closeTime) return true;
  const { keepAliveSeconds = 0 } = (found.memo?.[START_MEMO] ?? {}) as Partial<StartMemo>;
  return found.closeTime.getTime() + keepAliveSeconds * 1000 > now;
}
