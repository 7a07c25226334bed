/** The check of storage of `longhaul doctor`. */
import type { Client } from '@temporalio/client';
import type { Settings } from '../../platform/settings/index.js';
import type { Finding } from './finding.js';

/** Whether storage answers, and can be used. */
export async function checkStorageAnswers(settings: Settings): Promise<Finding> {
  const check = 'storage';
  const { openStorage, storageId, storageName, verifyStorage } =
    await import('../../platform/storage/index.js');
  const name = storageName(settings);
  try {
    const storage = openStorage(settings);
    // A folder that no worker has used stays as it is.
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

/** Whether the workers of a task queue have the storage of these settings; nothing if none of them names its own. */
export async function checkStorageOfWorkers(client: Client, settings: Settings): Promise<Finding[]> {
  const check = 'storage of workers';
  const [{ openStorage, storageId }, { isPolling, pollersOf, storageInIdentity }, { storageMismatch }] =
    await Promise.all([
      import('../../platform/storage/index.js'),
      import('../../platform/host-presence.js'),
      import('../../engine/storage-of-workers.js'),
    ]);
  const identities = (await pollersOf(client, settings.taskQueue, 'workflows'))
    .filter(isPolling)
    .map(({ identity }) => identity);
  if (!identities.some(storageInIdentity)) return [];
  // Its trouble is a finding of its own.
  const id = await storageId(openStorage(settings)).catch(() => undefined);
  if (id === undefined) return [];
  const detail = storageMismatch(id, identities);
  if (detail === undefined) return [{ check, status: 'ok', detail: `${id}, as here` }];
  const advice = 'give servers and workers the same --storage, and start them again';
  return [{ check, status: 'fail', detail, advice }];
}
