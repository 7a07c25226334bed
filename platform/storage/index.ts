/** Opens the storage that a home's settings choose. */
import { join } from 'node:path';
import { bucketIn } from '../settings/storage.js';
import { folderStorage } from './folder.js';
import { lazyStorage } from './lazy.js';
import type { StorageChoice } from './name.js';
import type { Storage } from './types.js';

export { isStorageWait, lostValueIn, LostValueError, StorageError, storageErrorIn } from './error.js';
export { IDENTITY_KEY, storageId, verifyStorage } from './identity.js';
export { folderStorage } from './folder.js';
export { storageChoice, storageName, type StorageChoice } from './name.js';
export type { Storage, StoredValue } from './types.js';

/** Sends no request. Loads the AWS SDK only with the first request to a bucket. */
export function openStorage(settings: StorageChoice): Storage {
  if (!bucketIn(settings.storage ?? '')) return folderStorage(join(settings.home, 'storage'));
  return lazyStorage(async () => {
    const { s3Storage } = await import('./s3/index.js');
    return s3Storage(settings);
  });
}
