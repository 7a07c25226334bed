/** The key that all servers of a home share: it seals tokens, sessions and cursors. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createFileOnce, readIfThere } from './atomic-files.js';
import { SettingsError } from '../settings/index.js';

/** Least length of a key, and the length of a generated one. */
const KEY_BYTES = 32;

/** Default of LONGHAUL_SECRET in docker-compose.temporal.yml, for trials. */
const PUBLISHED_SECRET = 'bm90IGEgc2VjcmV0OiBmb3IgdHJpYWxzIG9uIG9uZSBtYWNoaW5l';

/** Whether LONGHAUL_SECRET is the Compose file's published one, in any spelling of base64. */
export function isPublishedSecret(): boolean {
  const given = process.env['LONGHAUL_SECRET'];
  return given !== undefined && Buffer.from(given, 'base64').equals(Buffer.from(PUBLISHED_SECRET, 'base64'));
}

/**
 * Reads LONGHAUL_SECRET (base64, at least 32 bytes), else the home's key file, created at first use.
 *
 * @throws SettingsError when too short
 */
export function loadSecret(home: string): Buffer {
  const given = process.env['LONGHAUL_SECRET'];
  if (given) {
    const secret = Buffer.from(given, 'base64');
    if (secret.length >= KEY_BYTES) return secret;
    throw new SettingsError(
      `LONGHAUL_SECRET: expected ${KEY_BYTES} bytes or more in base64; got ${secret.length}`,
    );
  }
  const path = join(home, 'secret');
  if (!readKey(path)) createFileOnce(path, randomBytes(KEY_BYTES));
  return readKey(path)!;
}

/** @throws SettingsError when the file is too short to be a key */
function readKey(path: string): Buffer | undefined {
  const key = readIfThere(path);
  if (!key || key.length >= KEY_BYTES) return key;
  throw new SettingsError(
    `${path}: expected a key of ${KEY_BYTES} bytes or more; got ${key.length}, so the file is damaged. Restore it from a ` +
      `backup, or delete it to have a new key made: open sessions, cursors, questions and event IDs that clients hold ` +
      `are then invalid, and an idempotency key no longer finds what it started. Operations, tokens and results stay.`,
  );
}
