import { join } from 'node:path';
import { defined } from '../../operations/json/defined.js';
import { bucketIn } from '../settings/storage.js';
import type { Settings } from '../settings/table.js';

/** Settings that choose a storage. Default: the home's folder. */
export type StorageChoice = Pick<Settings, 'home'> & Partial<StorageSettings>;

export type StorageSettings = Pick<
  Settings,
  'storage' | 'storageEndpoint' | 'storageRegion' | 'storageEncryption'
>;

/** Name of a storage for people: the folder's path, or the bucket with the store's address. */
export function storageName({ home, storage = 'folder', storageEndpoint }: StorageChoice): string {
  if (!bucketIn(storage)) return join(home, 'storage');
  return storageEndpoint === undefined ? storage : `${storage} at ${storageEndpoint}`;
}

/** Picks the settings that choose a storage. */
export function storageChoice(settings: StorageChoice): StorageChoice {
  const { home, storage, storageEndpoint, storageRegion, storageEncryption } = settings;
  return defined({
    home,
    storage,
    storageEndpoint,
    storageRegion,
    storageEncryption,
  }) as StorageChoice;
}
