/** Checks permissions of the API keys' folder: write access to it is the right to admit callers. */
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { realPathOf } from './real-path.js';
import { settingFlag } from '../settings/flag.js';
import type { Settings } from '../settings/table.js';

const WRITE_BITS = 0o022;
const OTHERS_READ_BIT = 0o004;

/** Why no server may use the keys in the folder: others can change keys or read their hashes. Windows has no such permissions. */
export function keysFolderConflict({
  authentication,
  keysFolder,
}: Pick<Settings, 'authentication' | 'keysFolder'>): string | undefined {
  if (!authentication.includes('keys') || process.platform === 'win32') return undefined;
  const folder = realPathOf(keysFolder);
  const described = `${settingFlag('authentication')} keys, ${settingFlag('keysFolder')} ${keysFolder}`;
  try {
    const mode = reachableMode(folder);
    const isFixed = isOnReadOnlyFileSystem(folder);
    if (!isFixed && mode & WRITE_BITS)
      return (
        `${described}: expected a folder that its owner alone can write, since who writes there can make keys; ` +
        `got mode ${octal(folder)}. Run: chmod go-w '${keysFolder}'`
      );
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.json'))) {
      const path = join(folder, name);
      const fileMode = reachableMode(path);
      if (!(fileMode & OTHERS_READ_BIT) && (isFixed || !(fileMode & WRITE_BITS))) continue;
      return (
        `${described}: expected keys that other users can neither read nor write; got mode ${octal(path)} of ${name}. ` +
        `Run: chmod 600 '${join(keysFolder, name)}'`
      );
    }
    return undefined;
  } catch {
    // Missing or unreadable: nobody has a key.
    return undefined;
  }
}

/** Permissions that group and others can use. They have none without access to every folder above. */
function reachableMode(path: string): number {
  let { mode } = statSync(path);
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const above = statSync(folder).mode;
    if (!(above & 0o001)) mode &= ~0o007;
    if (!(above & 0o011)) mode &= ~0o070;
    if (folder === dirname(folder)) return mode;
  }
}

/** E.g. a volume with a Kubernetes Secret, which has mode 1777. */
function isOnReadOnlyFileSystem(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}

function octal(path: string): string {
  return (statSync(path).mode & 0o7777).toString(8).padStart(4, '0');
}
