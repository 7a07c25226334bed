/** Copies all values of one storage to another, value by value, so that a copy that was interrupted continues. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import PQueue from 'p-queue';
import { LonghaulError, undefinedIf } from '../../operations/errors.js';
import { temporaryPath } from '../atomic-files.js';
import { IDENTITY_KEY } from './identity.js';
import type { Storage, StoredValue } from './types.js';

/** Number of values that are copied at once. */
const CONCURRENCY = 8;
/** Passes after which values that still change are left to another call. */
const MAX_PASSES = 5;

export interface MoveOptions {
  from: Storage;
  to: Storage;
  /** Folder for the files under way. */
  folder: string;
  /** Gets the counts now and then. */
  onProgress?: (counts: MoveCounts) => void;
}

export interface MoveCounts {
  /** Values of the source, so far. */
  found: number;
  copied: number;
  copiedBytes: number;
  /** Values that were there already, with the same size and not older. */
  present: number;
  /** Keys whose value at the destination is newer and has another size: it stays. */
  newer: string[];
}

/**
 * Copies what the destination lacks, reads each copy back and compares its checksum, and repeats that until a pass finds nothing
 * new: processes may store further values meanwhile. The source stays as it is.
 *
 * @throws StorageError, or LonghaulError `internal` for a copy that differs from its source
 */
export async function copyStorage({ from, to, folder, onProgress }: MoveOptions): Promise<MoveCounts> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  let counts: MoveCounts;
  let [copied, copiedBytes] = [0, 0];
  let pass = 1;
  do {
    counts = { found: 0, copied: 0, copiedBytes: 0, present: 0, newer: [] };
    await eachValue(from, async (value) => {
      counts.found += 1;
      const there = await to.about(value.key);
      if (there && there.changedAt >= value.changedAt && there.sizeBytes !== value.sizeBytes)
        counts.newer.push(value.key);
      else if (there && isCopied(value, there)) counts.present += 1;
      else {
        const bytes = await copyValue(value.key, { from, to, folder });
        if (bytes === undefined) return;
        counts.copied += 1;
        counts.copiedBytes += bytes;
      }
      onProgress?.({
        ...counts,
        copied: copied + counts.copied,
        copiedBytes: copiedBytes + counts.copiedBytes,
      });
    });
    copied += counts.copied;
    copiedBytes += counts.copiedBytes;
    pass += 1;
  } while (counts.copied > 0 && pass <= MAX_PASSES);
  return { ...counts, present: counts.found - counts.newer.length - copied, copied, copiedBytes };
}

/**
 * Deletes the values of the source whose copies have the same checksum; others stay.
 *
 * @returns number of deleted values, and the keys that stay
 */
export async function deleteCopied({
  from,
  to,
}: Pick<MoveOptions, 'from' | 'to'>): Promise<{ deleted: number; kept: string[] }> {
  let deleted = 0;
  const kept: string[] = [];
  await eachValue(from, async ({ key }) => {
    const [source, copy] = await Promise.all([checksum(from, key), checksum(to, key)]);
    if (source === undefined) return;
    if (source === copy) {
      await from.remove(key);
      deleted += 1;
    } else kept.push(key);
  });
  await from.remove(IDENTITY_KEY);
  return { deleted, kept };
}

/** Calls a function with every value, several at a time. @throws its first error, once the others have ended */
async function eachValue(storage: Storage, act: (value: StoredValue) => Promise<void>): Promise<void> {
  const queue = new PQueue({ concurrency: CONCURRENCY });
  const failures: unknown[] = [];
  for await (const value of storage.list()) {
    if (value.key === IDENTITY_KEY) continue;
    await queue.onSizeLessThan(CONCURRENCY);
    if (failures.length > 0) break;
    void queue.add(() => act(value)).catch((error: unknown) => failures.push(error));
  }
  await queue.onIdle();
  if (failures.length > 0) throw failures[0];
}

/** Clocks of two stores may differ: then a value is copied again. */
function isCopied(value: StoredValue, there: { sizeBytes: number; changedAt: Date }): boolean {
  return (
    there.sizeBytes === value.sizeBytes &&
    there.changedAt >= new Date(Math.floor(value.changedAt.getTime() / 1000) * 1000)
  );
}

/** @returns number of bytes; undefined if the value is gone */
async function copyValue(key: string, { from, to, folder }: MoveOptions): Promise<number | undefined> {
  const path = temporaryPath(join(folder, 'value'));
  try {
    const stream = await from.stream(key).catch(undefinedIf('not_found'));
    if (!stream) return undefined;
    const hash = createHash('sha256');
    let bytes = 0;
    const hashing = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        bytes += chunk.length;
        done(undefined, chunk);
      },
    });
    await pipeline(stream, hashing, createWriteStream(path, { mode: 0o600 }));
    await to.putFile(key, path);
    if ((await checksum(to, key)) !== hash.digest('hex'))
      throw new LonghaulError(
        'internal',
        `the copy of ${key} differs from its source; run the command again`,
      );
    return bytes;
  } finally {
    await rm(path, { force: true });
  }
}

/** SHA-256 of a value, hexadecimal; undefined for a missing one. */
async function checksum(storage: Storage, key: string): Promise<string | undefined> {
  const stream = await storage.stream(key).catch(undefinedIf('not_found'));
  if (!stream) return undefined;
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
