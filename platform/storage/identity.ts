/**
 * Checks of a storage, and its identity, written by its first process. Servers compare theirs with the workers', because another
 * storage lacks their large results, artifacts and logs.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { undefinedIf } from '../../operations/errors.js';
import { StorageError } from './error.js';
import type { Storage } from './types.js';

const IDENTITY_KEY = 'storage-id';
/** Values of checks. A killed check leaves one behind. */
const CHECK_PREFIX = 'check/';

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

/** Checks a storage by using each of its functions: stores a value, creates it again, reads a range of it, lists and removes it. @throws StorageError */
export async function checkStorage(storage: Storage, name: string): Promise<{ id: string; ms: number }> {
  const began = performance.now();
  const expect = (what: string, expected: unknown, came: unknown) => {
    if (expected !== came)
      throw new StorageError(
        `storage ${name}: ${what}: expected ${JSON.stringify(expected)}; got ${JSON.stringify(came)}`,
        { retryable: false },
      );
  };
  const id = await verifyStorage(storage, name);
  const key = `${CHECK_PREFIX}${randomUUID()}`;
  expect('the creation of a value', true, await storage.create(key, Buffer.from('created once')));
  try {
    expect('a second creation of it', false, await storage.create(key, Buffer.from('created twice')));
    expect('its content', 'created once', (await storage.read(key)).toString());
    expect('a range of it', 'once', (await storage.read(key, { from: 8, lengthBytes: 9 })).toString());
    expect('its size', 12, await storage.size(key));
    const listed: string[] = [];
    for await (const found of storage.keys(CHECK_PREFIX)) listed.push(found);
    expect('its place in the list', true, listed.includes(key));
  } finally {
    await storage.remove(key);
  }
  expect('its size after it was removed', undefined, await storage.size(key));
  return { id, ms: Math.round(performance.now() - began) };
}
