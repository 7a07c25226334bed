/**
 * Identity of a storage, written by its first process. Servers compare theirs with the workers', because another storage lacks
 * their large results, artifacts and logs.
 */
import { randomBytes } from 'node:crypto';
import { undefinedIf } from '../../operations/errors.js';
import { StorageError } from './error.js';
import type { Storage } from './types.js';

/** Not copied to another storage. */
export const IDENTITY_KEY = 'storage-id';

/** ID of a storage: ten hexadecimal digits. Creates it at first use. @throws StorageError */
export async function storageId(storage: Storage): Promise<string> {
  for (;;) {
    const found = await storage.read(IDENTITY_KEY).catch(undefinedIf('not_found'));
    const id = found?.toString().trim();
    if (id) return id;
    await storage.create(IDENTITY_KEY, Buffer.from(randomBytes(5).toString('hex')));
  }
}

/** Checks that a storage takes writes, and creates a value only once, which logs rely on. @returns its ID. @throws StorageError */
export async function verifyStorage(storage: Storage, name: string): Promise<string> {
  const id = await storageId(storage);
  // A store that ignores the condition overwrites the value with itself.
  if (await storage.create(IDENTITY_KEY, Buffer.from(id)))
    throw new StorageError(
      `storage ${name}: the store ignores conditional writes: expected 412 for a PUT with If-None-Match: * of an object that is there; ` +
        'got success. Use a store that has them: logs of several processes would overwrite each other',
      { retryable: false },
    );
  return id;
}
