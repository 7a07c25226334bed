/** Removes workspaces of operations that can no longer be resumed. */
import { randomUUID } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { START_MEMO, type StartMemo } from '../../operations/wire/index.js';
import { isUnreadable } from '../../operations/wire/unreadable.js';
import { findWorkflow } from '../../platform/temporal/find-workflow.js';
import type { Storage } from '../../platform/storage/index.js';
import { fileItem, isOnlyNamespace, sweep, type SweepItem } from '../../platform/storage/sweep-plan.js';
import { temporalNowMs } from '../../platform/temporal/time.js';
import { readJson } from '../../worker/steps/files.js';
import { runningSteps } from '../../worker/steps/running.js';
import { operationFile, workspacesFolder, type OperationFile } from '../../worker/steps/layout.js';

/** Prefix that a folder gets before its removal, so a half-removed workspace is never used. */
const REMOVED = '.removed-';

/**
 * Plans the sweep: workspaces of operations that are closed and past their retention, or unknown to Temporal. Workspaces of
 * other namespaces stay. If several namespaces have used the storage, all workspaces of unknown operations stay, because a
 * namespace of the same name may exist in another Temporal. A running step's workspace stays until a worker has ended the step.
 *
 * @param now Temporal's time, in epoch milliseconds. Default: read from it
 * @param isDry whether to change nothing
 * @throws when Temporal can't be reached; the plan lacks workspaces that weren't checked
 */
export async function* planWorkspaceSweep(
  home: string,
  storage: Storage,
  client: Client,
  now?: number,
  isDry = false,
): AsyncGenerator<SweepItem> {
  const folder = workspacesFolder(home);
  const nowMs = now ?? (await temporalNowMs(client));
  const isKept = !(await isOnlyNamespace(storage, client, isDry));
  const running = new Set((await runningSteps(home)).map(({ operationId }) => operationId));
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (name.startsWith(REMOVED)) {
      yield {
        ...fileItem('workspace', path, 'its removal was interrupted', name),
        remove: () => removeFolder(path),
      };
      continue;
    }
    const operation = await readJson<OperationFile>(operationFile(path));
    if (operation?.namespace !== client.options.namespace) continue;
    const { workflowId } = operation;
    const reason = running.has(workflowId) ? undefined : await whyUnneeded(workflowId, client, nowMs, isKept);
    if (reason === undefined) continue;
    yield {
      ...fileItem('workspace', path, reason, workflowId),
      async remove() {
        const removed = join(folder, `${REMOVED}${randomUUID()}`);
        await rename(path, removed).catch(() => undefined);
        await removeFolder(removed);
      },
    };
  }
}

/** @throws when Temporal can't be reached */
export async function sweepWorkspaces(
  home: string,
  storage: Storage,
  client: Client,
  now?: number,
): Promise<void> {
  await sweep(planWorkspaceSweep(home, storage, client, now));
}

function removeFolder(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true });
}

/** @returns undefined if the workspace is needed */
async function whyUnneeded(
  workflowId: string,
  client: Client,
  nowMs: number,
  isUnknownKept: boolean,
): Promise<string | undefined> {
  const found = await findWorkflow(client, workflowId);
  if (!found) return isUnknownKept ? undefined : "Temporal doesn't know the operation";
  if (!found.closeTime) return undefined;
  const start = found.memo?.[START_MEMO];
  // Nobody knows how long its result is kept. Temporal forgets the operation at its retention.
  if (isUnreadable(start)) return undefined;
  const { keepAliveSeconds = 0 } = (start ?? {}) as Partial<StartMemo>;
  const isOver = found.closeTime.getTime() + keepAliveSeconds * 1000 <= nowMs;
  return isOver ? `closed at ${found.closeTime.toISOString()}, and its result is no longer kept` : undefined;
}
