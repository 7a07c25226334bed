/** The key that all servers of a home share: it seals tokens, sessions and cursors. */
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SettingsError } from './config.js';

/**
 * Reads LONGHAUL_SECRET (base64, at least 32 bytes), else the key file of the home, which is made at first use.
 *
 * @throws SettingsError when LONGHAUL_SECRET is too short
 */
export function loadSecret(home: string, environment: NodeJS.ProcessEnv = process.env): Buffer {
  const given = environment['LONGHAUL_SECRET'];
  if (given) {
    const secret = Buffer.from(given, 'base64');
    if (secret.length < 32)
      throw new SettingsError(`LONGHAUL_SECRET: expected 32 bytes or more in base64; got ${secret.length}`);
    return secret;
  }
  const path = join(home, 'secret');
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  mkdirSync(home, { recursive: true });
  const mine = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(mine, randomBytes(32), { mode: 0o600, flag: 'wx' });
  try {
    linkSync(mine, path); // fails if another process was first: then its key is the key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(mine);
  }
  return readFileSync(path);
}
