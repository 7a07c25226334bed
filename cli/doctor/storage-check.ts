/** Storage checks for `longhaul doctor` and `longhaul storage check`. */
import type { Client } from '@temporalio/client';
import { storageMismatch } from '../../engine/temporal/storage-of-workers.js';
import {
  openStorage,
  storageId,
  storageName,
  verifyStorage,
  type Storage,
} from '../../platform/storage/index.js';
import type { Settings } from '../../platform/settings/index.js';
import { storedKeysIn } from '../../platform/temporal/data-converter.js';
import { isPolling, pollersOf, storageInIdentity } from '../../platform/temporal/host-presence.js';
import { say } from '../console.js';
import { historiesOfQuery } from '../replay/histories.js';
import { fail, ok, type Finding } from './finding.js';

/** Runs between two progress lines. */
const PROGRESS_RUNS = 1_000;

interface NamedValues {
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
  const name = storageName(settings);
  try {
    const storage = openStorage(settings);
    // Don't change a folder that no worker has used.
    const isUsed = settings.storage !== 'folder' || (await storage.size('storage-id'));
    if (!isUsed) return ok(check, `${name}, not used yet`);
    const id = await (settings.storage === 'folder' ? storageId(storage) : verifyStorage(storage, name));
    return ok(check, `${name}, ID ${id}`);
  } catch (error) {
    const advice =
      'correct --storage and its settings, or the credentials in the environment; see docs/storage.md';
    return fail(check, (error as Error).message, advice);
  }
}

/** Whether a task queue's workers use the storage of these settings; empty if none of them names its own. */
export async function checkStorageOfWorkers(client: Client, settings: Settings): Promise<Finding[]> {
  const check = 'storage of workers';
  const identities = (await pollersOf(client, settings.taskQueue, 'workflows'))
    .filter(isPolling)
    .map(({ identity }) => identity);
  if (!identities.some(storageInIdentity)) return [];
  // Storage trouble has its own finding.
  const id = await storageId(openStorage(settings)).catch(() => undefined);
  if (id === undefined) return [];
  const detail = storageMismatch(id, identities);
  if (detail === undefined) return [ok(check, `${id}, as here`)];
  return [fail(check, detail, 'give servers and workers the same --storage, and start them again')];
}

/** Looks for the values that the histories of all workflows name. @throws errors of Temporal, StorageError */
export async function checkNamedValues(client: Client, storage: Storage): Promise<NamedValues> {
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
