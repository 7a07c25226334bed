/** Checks a storage by using each of its functions. */
import { randomUUID } from 'node:crypto';
import { StorageError } from './error.js';
import { verifyStorage } from './identity.js';
import type { Storage } from './types.js';

/** Values of checks. A killed check leaves one behind. */
const CHECK_PREFIX = 'check/';

/** Stores a value, creates it again, reads a range of it, lists and removes it. @throws StorageError */
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
