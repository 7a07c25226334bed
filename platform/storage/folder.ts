/** Storage in a folder, on one machine or on a shared file system. */
import { createReadStream } from 'node:fs';
import {
  chmod,
  link,
  mkdir,
  open,
  opendir,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { LonghaulError } from '../../operations/errors.js';
import { isTemporaryPath, temporaryPath, undefinedIfMissing } from '../home/atomic-files.js';
import { copyFile } from '../home/copy-file.js';
import type { Storage } from './types.js';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const APPEND_PAUSE_MS = 100;
/** Errors when a folder disappears. ENOTDIR comes from Node.js's recursive mkdir. */
const REMOVED_CODES = ['ENOENT', 'ENOTDIR'];
/** Attempts to create a file in a folder that other processes may remove. */
const FOLDER_ATTEMPTS = 10;
/** Key prefix of values written to test whether writing works. */
const PROBE_PREFIX = 'health/';

/** Keys are relative paths in the folder. */
export function folderStorage(folder: string): Storage {
  const root = resolve(folder);
  const pathOf = (key: string) => {
    const path = join(root, key);
    // A key that ends with / is a prefix. Path segments that resolve away would map two keys to one file.
    const isOwn = key
      .replace(/\/$/, '')
      .split('/')
      .every((part) => !['', '.', '..'].includes(part));
    if (!isOwn || !path.startsWith(root + sep))
      throw new LonghaulError('internal', `storage key leaves its folder: ${key}`);
    return path;
  };
  const missing = (key: string, cause: unknown) =>
    (cause as NodeJS.ErrnoException).code === 'ENOENT'
      ? new LonghaulError('not_found', `nothing is stored under ${key}`, { cause })
      : cause;
  return {
    appendPauseMs: APPEND_PAUSE_MS,
    async put(key, bytes) {
      const path = pathOf(key);
      const unfinished = temporaryPath(path);
      await removeOnFailure(unfinished, async () => {
        const file = await inFolderOf(path, () => open(unfinished, 'wx', FILE_MODE));
        try {
          await file.writeFile(bytes);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(unfinished, path);
      });
    },
    async create(key, bytes) {
      const path = pathOf(key);
      const unfinished = temporaryPath(path);
      try {
        await inFolderOf(path, () => writeFile(unfinished, bytes, { flag: 'wx', mode: FILE_MODE }));
        await link(unfinished, path);
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        return false;
      } finally {
        await rm(unfinished, { force: true });
      }
    },
    async putFile(key, from, signal) {
      const path = pathOf(key);
      signal?.throwIfAborted();
      // Sweeps use the time at which the file was stored.
      await utimes(from, new Date(), new Date());
      await chmod(from, FILE_MODE);
      try {
        await inFolderOf(path, () => rename(from, path));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
        const unfinished = temporaryPath(path);
        await removeOnFailure(unfinished, async () => {
          await inFolderOf(path, () => copyFile(from, unfinished, signal));
          await rename(unfinished, path);
        });
        await unlink(from);
      }
    },
    async read(key, range) {
      let file;
      try {
        file = await open(pathOf(key), 'r');
      } catch (error) {
        throw missing(key, error);
      }
      try {
        if (!range) return await file.readFile();
        const { bytesRead, buffer } = await file.read(
          Buffer.alloc(range.lengthBytes),
          0,
          range.lengthBytes,
          range.from,
        );
        return buffer.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    },
    async stream(key, range) {
      if ((await this.size(key)) === undefined)
        throw new LonghaulError('not_found', `nothing is stored under ${key}`);
      return createReadStream(
        pathOf(key),
        range ? { start: range.from, end: range.from + range.lengthBytes - 1 } : {},
      );
    },
    async size(key) {
      return (await this.about(key))?.sizeBytes;
    },
    async about(key) {
      const found = await stat(pathOf(key)).catch(undefinedIfMissing);
      if (!found) return undefined;
      const { size, mtimeMs, mtime, ino } = found;
      return {
        sizeBytes: size,
        version: [size, Math.round(mtimeMs * 1000), ino].map((n) => n.toString(36)).join('-'),
        changedAt: mtime,
      };
    },
    async *list(prefix) {
      for await (const key of this.keys(prefix)) {
        const about = await this.about(key);
        if (about) yield { key, changedAt: about.changedAt, sizeBytes: about.sizeBytes };
      }
    },
    async *keys(prefix = '') {
      for await (const path of filesUnder(prefix ? pathOf(prefix) : root))
        if (!isTemporaryPath(path)) yield relative(root, path).split(sep).join('/');
    },
    async remove(key) {
      const path = pathOf(key);
      await rm(path, { force: true });
      // Remove folders that are now empty.
      for (let parent = dirname(path); parent !== root; parent = dirname(parent)) {
        const isGone = await rmdir(parent).then(
          () => true,
          () => false,
        );
        if (!isGone) break;
      }
    },
    async removeAll(keys) {
      for await (const key of keys) await this.remove(key);
    },
    async probe() {
      const key = `${PROBE_PREFIX}${process.pid}`;
      await this.put(key, Buffer.from(new Date().toISOString()));
      await this.remove(key);
    },
  };
}

/** Runs work that needs a path's folder. Retries if another process removed the folder while it was empty. */
async function inFolderOf<T>(path: string, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
      return await work();
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!REMOVED_CODES.includes(code) || attempt === FOLDER_ATTEMPTS) throw error;
    }
  }
}

async function removeOnFailure(unfinished: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** All files below a folder, if it exists. */
async function* filesUnder(folder: string): AsyncGenerator<string> {
  for await (const entry of (await opendir(folder).catch(undefinedIfMissing)) ?? []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesUnder(path);
    else yield path;
  }
}
