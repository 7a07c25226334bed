/** Opens the storage that a home's settings choose. */
import { join } from 'node:path';
import { bucketIn } from '../settings/types.js';
import { folderStorage } from './folder.js';
import type { Storage, StorageChoice } from './types.js';

export { isStorageWait, lostValueIn, LostValueError, StorageError, storageErrorIn } from './error.js';
export { checkStorage, storageId, verifyStorage } from './identity.js';
export { folderStorage } from './folder.js';
export { storageChoice, storageName, type Storage, type StorageChoice, type StoredValue } from './types.js';

/** Minimum pause between two appends to a log in S3. Readers see a line at most this much later. */
const APPEND_PAUSE_MS = 2_000;

/** Sends no request. Loads the AWS SDK only with the first request to a bucket. */
export function openStorage(settings: StorageChoice): Storage {
  if (!bucketIn(settings.storage ?? '')) return folderStorage(join(settings.home, 'storage'));
  return lazyStorage(async () => {
    const { s3Storage } = await import('./s3/index.js');
    return s3Storage(settings);
  });
}

/** Loads a storage's driver on first use: the AWS SDK takes time and memory that other homes don't need. */
function lazyStorage(load: () => Promise<Omit<Storage, 'appendPauseMs'>>): Storage {
  let loading: ReturnType<typeof load> | undefined;
  const loaded = () => (loading ??= load());
  return {
    appendPauseMs: APPEND_PAUSE_MS,
    put: async (key, bytes) => (await loaded()).put(key, bytes),
    create: async (key, bytes) => (await loaded()).create(key, bytes),
    putFile: async (key, path, signal) => (await loaded()).putFile(key, path, signal),
    read: async (key, range) => (await loaded()).read(key, range),
    stream: async (key, range) => (await loaded()).stream(key, range),
    size: async (key) => (await loaded()).size(key),
    about: async (key) => (await loaded()).about(key),
    async *list(prefix) {
      yield* (await loaded()).list(prefix);
    },
    async *keys(prefix) {
      yield* (await loaded()).keys(prefix);
    },
    remove: async (key) => (await loaded()).remove(key),
    removeAll: async (keys) => (await loaded()).removeAll(keys),
    probe: async () => (await loaded()).probe(),
  };
}
