/**
 * Restricts a home and its files to their user: the home holds the key of all sealed tokens, and the logs and results of
 * operations.
 */
import { chmodSync, statSync } from 'node:fs';
import { UMASK_VARIABLE } from './umask.js';

/**
 * Sets the home's mode to 0700, and the umask of this process and its children to create files as 0600. Pipeline steps keep
 * the umask that the process was started with: they write the user's files.
 *
 * @param say gets a warning where the home belongs to another user and is open to others
 */
export function makeHomePrivate(home: string, say: (line: string) => void): void {
  const before = process.umask(0o077);
  process.env[UMASK_VARIABLE] ??= before.toString(8).padStart(4, '0');
  const { mode } = statSync(home);
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(home, 0o700);
  } catch (error) {
    say(
      `${home} is open to other users (mode ${(mode & 0o777).toString(8)}) and can't be made private: ` +
        `${(error as Error).message}. They can read its key and its data.`,
    );
  }
}
