/** Copies folders while other processes write to them. */
import { constants } from 'node:fs';
import {
  copyFile,
  link,
  lstat,
  mkdir,
  readdir,
  readlink,
  rename,
  stat,
  symlink,
  utimes,
} from 'node:fs/promises';
import { join } from 'node:path';
import { isTemporaryPath, temporaryPath, undefinedIfMissing } from '../../platform/home/atomic-files.js';

/** Hard-link errors that fall back to a copy: another file system, no support for links, or too many links. */
const NO_LINK_CODES: ReadonlySet<unknown> = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EMLINK']);

/**
 * Copies a folder, without files that disappear, sockets and pipes. Folders come before files, because a step's output cursor
 * must not be older than its output.
 *
 * @param isExcluded called with paths relative to the folder
 */
export async function copyTree(
  from: string,
  to: string,
  isExcluded: (path: string) => boolean,
  path = '',
): Promise<void> {
  const entries = (await readdir(join(from, path), { withFileTypes: true }).catch(undefinedIfMissing)) ?? [];
  await mkdir(join(to, path), { recursive: true, mode: 0o700 });
  const ordered = [...entries].sort((a, b) => Number(b.isDirectory()) - Number(a.isDirectory()));
  for (const entry of ordered) {
    const inner = join(path, entry.name);
    if (isExcluded(inner)) continue;
    const [source, target] = [join(from, inner), join(to, inner)];
    if (entry.isDirectory()) await copyTree(from, to, isExcluded, inner);
    else if (entry.isSymbolicLink())
      await readlink(source).then((text) => symlink(text, target), undefinedIfMissing);
    else if (entry.isFile()) await copyOne(source, target).catch(undefinedIfMissing);
  }
}

async function copyOne(source: string, target: string): Promise<void> {
  const { atime, mtime } = await stat(source);
  // A clone takes no space on file systems that support it.
  await copyFile(source, target, constants.COPYFILE_FICLONE);
  // Sweeps compare modification times.
  await utimes(target, atime, mtime);
}

/** Hard-links files that are only written once or replaced, so they survive removal. Repeat it to pick up new ones. */
export async function linkTree(from: string, to: string, path = ''): Promise<void> {
  const entries = (await readdir(join(from, path), { withFileTypes: true }).catch(undefinedIfMissing)) ?? [];
  if (entries.length) await mkdir(join(to, path), { recursive: true, mode: 0o700 });
  let isAnyGone = false;
  for (const entry of entries) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) await linkTree(from, to, inner);
    else if (entry.isFile() && !isTemporaryPath(inner))
      await linkOne(join(from, inner), join(to, inner)).catch((error: unknown) => {
        undefinedIfMissing(error);
        isAnyGone = true;
      });
  }
  // Chunks of a log that were merged meanwhile are in a new file.
  if (isAnyGone) await linkTree(from, to, path);
}

async function linkOne(source: string, target: string): Promise<void> {
  const [current, known] = [await stat(source), await lstat(target).catch(undefinedIfMissing)];
  if (known && known.ino === current.ino && known.dev === current.dev) return;
  if (known && known.size === current.size && known.mtimeMs === current.mtimeMs) return;
  const unfinished = temporaryPath(target);
  await link(source, unfinished).catch((error: unknown) => {
    if (!NO_LINK_CODES.has((error as NodeJS.ErrnoException).code)) throw error;
    return copyOne(source, unfinished);
  });
  await rename(unfinished, target);
}
