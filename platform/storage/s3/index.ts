/** Storage in a bucket of S3 or a compatible store. */
import { bucketIn } from '../../settings/storage.js';
import { storageName, type StorageChoice } from '../name.js';
import type { Storage } from '../types.js';
import { createClients } from './client.js';
import { s3Objects } from './objects.js';

/** @param settings with a bucket in `storage` */
export function s3Storage(settings: StorageChoice): Omit<Storage, 'appendPauseMs'> {
  const { bucket, prefix } = bucketIn(settings.storage!)!;
  const place = { name: storageName(settings), bucket, region: settings.storageRegion };
  return s3Objects({ ...createClients(settings), place, prefix, encryption: settings.storageEncryption });
}
