/**
 * Storage of what is too large for Temporal's history: offloaded payloads, artifacts. A folder now; the interface
 * is what another store (S3) has to offer.
 */
import { createReadStream } from 'node:fs';
import { appendFile, copyFile, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join, normalize, sep } from 'node:path';
import { createHash, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { LonghaulError } from '../operations/errors.js';

export interface Storage {
  /** Stores bytes under a key: all of them or nothing. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Moves a local file into storage. */
  putFile(key: string, path: string): Promise<void>;
  /** Adds bytes at the end of a value; makes it when there is none. One writer a key. */
  append(key: string, bytes: Uint8Array): Promise<void>;
  /** Reads a range; the whole value without one. @throws LonghaulError `not_found` */
  read(key: string, range?: { from: number; lengthBytes: number }): Promise<Buffer>;
  /** Streams a range; the whole value without one. @throws LonghaulError `not_found` */
  stream(key: string, range?: { from: number; lengthBytes: number }): Promise<Readable>;
  /** Size in bytes; undefined when there is no such key. */
  size(key: string): Promise<number | undefined>;
  /** Size, and a version that changes with the value: letters, digits and `-`. Undefined when there is no such key. */
  about(key: string): Promise<{ sizeBytes: number; version: string } | undefined>;
}

/** Storage in a folder of this machine; keys are relative paths. */
export function folderStorage(folder: string): Storage {
  const pathOf = (key: string) => {
    const path = normalize(join(folder, key));
    if (!path.startsWith(normalize(folder) + sep))
      throw new LonghaulError('internal', `storage key leaves its folder: ${key}`);
    return path;
  };
  const missing = (key: string, cause: unknown) =>
    (cause as NodeJS.ErrnoException).code === 'ENOENT'
      ? new LonghaulError('not_found', `nothing is stored under ${key}`, { cause })
      : cause;
  return {
    async put(key, bytes) {
      const path = pathOf(key);
      await mkdir(dirname(path), { recursive: true });
      const unfinished = `${path}.${randomUUID()}.tmp`;
      const file = await open(unfinished, 'wx', 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(unfinished, path);
    },
    async putFile(key, from) {
      const path = pathOf(key);
      await mkdir(dirname(path), { recursive: true });
      try {
        await rename(from, path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
        const unfinished = `${path}.${randomUUID()}.tmp`;
        await copyFile(from, unfinished);
        await rename(unfinished, path);
        await unlink(from);
      }
    },
    async append(key, bytes) {
      const path = pathOf(key);
      await mkdir(dirname(path), { recursive: true });
      await appendFile(path, bytes, { mode: 0o600 });
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
      try {
        const { size, mtimeMs, ino } = await stat(pathOf(key));
        return {
          sizeBytes: size,
          version: [size, Math.round(mtimeMs * 1000), ino].map((n) => n.toString(36)).join('-'),
        };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
  };
}

/** Storage of a Longhaul home. */
export function storageOf(settings: { home: string }): Storage {
  return folderStorage(join(settings.home, 'storage'));
}

/** Key of an operation's artifact. */
export function artifactKey(workflowId: string, name: string): string {
  return `artifacts/${segment(workflowId)}/${segment(name)}`;
}

/** Key of a step's log. Steps are counted from 1. */
export function logKey(workflowId: string, child: string, step: number): string {
  return `logs/${segment(workflowId)}/${segment(child)}/${step}`;
}

/** Key of a text of the mailbox that is too large for history. */
export function mailboxKey(mailbox: string, id: string, part: 'content' | 'context' | 'response'): string {
  return `mailbox/${segment(mailbox)}/${segment(id)}/${part}`;
}

/** Longest part of a key that is kept as it is, in bytes: a file's name has at most 255. */
const MAX_SEGMENT_BYTES = 200;

/** A name as one part of a key; of a long one, its beginning and its hash. */
function segment(name: string): string {
  const encoded = encodeURIComponent(name);
  if (encoded.length <= MAX_SEGMENT_BYTES) return encoded;
  return `${encoded.slice(0, 100)}~${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}
