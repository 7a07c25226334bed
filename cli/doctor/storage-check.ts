/** Storage checks for `longhaul doctor` and `longhaul storage check`. */
import type { Client } from '@temporalio/client';
import type { Settings } from '../../platform/settings/index.js';
import type { Storage } from '../../platform/storage/index.js';
import { say } from '../console.js';

/** Runs between two progress lines. */
const PROGRESS_RUNS = 1_000;

export interface NamedValues {
  /** Runs of all workflows that Temporal has. */
  runs: number;
  /** Values that their histories name, counted for each run. */
  values: number;
  /** Values missing in storage. */
  lost: { workflowId: string; key: string }[];
}

/** Whether storage answers, and can be used. */
export async function checkStorageAnswers(settings: Settings): Promise<Finding> {
  const check = 'storage';
  const { openStorage, storageId, storageName, verifyStorage } =
    await import('../../platform/storage/index.js');
  const name = storageName(settings);
  try {
    const storage = openStorage(settings);
    // Don't change a folder that no worker has used.
    const id =
      settings.storage === 'folder'
        ? await storage.size('storage-id').then((size) => (size ? storageId(storage) : undefined))
        : await verifyStorage(storage, name);
    return { check, status: 'ok', detail: `${name}${id === undefined ? ', not used yet' : `, ID ${id}`}` };
  } catch (error) {
    const advice =
      'correct --storage and its settings, or the credentials in the environment; see docs/storage.md';
    return { check, status: 'fail', detail: (error as Error).message, advice };
  }
}

/** Whether a task queue's workers use the storage of these settings; empty if none of them names its own. */
export async function checkStorageOfWorkers(client: Client, settings: Settings): Promise<Finding[]> {
  const check = 'storage of workers';
  const [{ openStorage, storageId }, { isPolling, pollersOf, storageInIdentity }, { storageMismatch }] =
    await Promise.all([
      import('../../platform/storage/index.js'),
      import('../../platform/temporal/host-presence.js'),
      import('../../engine/temporal/storage-of-workers.js'),
    ]);
  const identities = (await pollersOf(client, settings.taskQueue, 'workflows'))
    .filter(isPolling)
    .map(({ identity }) => identity);
  if (!identities.some(storageInIdentity)) return [];
  // Storage trouble has its own finding.
  const id = await storageId(openStorage(settings)).catch(() => undefined);
  if (id === undefined) return [];
  const detail = storageMismatch(id, identities);
  if (detail === undefined) return [{ check, status: 'ok', detail: `${id}, as here` }];
  const advice = 'give servers and workers the same --storage, and start them again';
  return [{ check, status: 'fail', detail, advice }];
}

/** Looks for the values that the histories of all workflows name. @throws errors of Temporal, StorageError */
export async function checkNamedValues(client: Client, storage: Storage): Promise<NamedValues> {
  const [{ historiesOfQuery }, { storedKeysIn }] = await Promise.all([
    import('../replay/histories.js'),
    import('../../platform/temporal/data-converter.js'),
  ]);
  const named: NamedValues = { runs: 0, values: 0, lost: [] };
  for await (const { workflowId, history } of historiesOfQuery(client, '')) {
    for (const key of storedKeysIn(history)) {
      named.values += 1;
      if ((await storage.size(key)) === undefined) named.lost.push({ workflowId, key });
    }
    named.runs += 1;
    if (named.runs % PROGRESS_RUNS === 0) say(`${named.runs} runs so far`);
  }
  return named;
}

/** Result of one check of `longhaul doctor`. */
export interface Finding {
  check: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** Recommended action. */
  advice?: string;
}
