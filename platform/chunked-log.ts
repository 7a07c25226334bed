/**
 * A log that grows by appends: of a step, or of an operation. It is stored in chunks, each written whole and once. A chunk's key ends
 * with the offset of its first byte, and only one writer can create that key. So appended bytes never move, and a killed process
 * leaves no part of a chunk behind. Many small chunks are merged into one, whose key ends with its first offset and the offset after
 * it. Folders and buckets have the same keys, and only ever get whole values.
 */
import { setTimeout } from 'node:timers/promises';
import { undefinedIf } from '../operations/errors.js';
import type { Storage } from './storage/types.js';

/** Number of small chunks that are merged. */
const MERGED_CHUNKS = 48;
/** Number of latest chunks that are never merged: a process that appends may not have seen later ones. */
const RECENT_CHUNKS = 16;
/** Size of a chunk that is not merged any further, in bytes. */
const LARGE_CHUNK_BYTES = 256 * 1024;
/** By how much the random wait after a lost race grows with each attempt, and its limit, in milliseconds. */
const CONTENTION_WAIT_MS = 10;
const LONGEST_CONTENTION_WAIT_MS = 100;
/** Number of looks for a missing chunk, which may be just being merged, before it counts as lost; and the pause between them. */
const LOOKS = 5;
const LOOK_PAUSE_MS = 20;

interface Chunk {
  key: string;
  offset: number;
  /** Offset of the next chunk; undefined for the last one, whose size gives it. */
  end: number | undefined;
}

export class ChunkedLog {
  #chunks: Chunk[] = [];
  /** Keys of chunks that were replaced by a merged one. */
  #replaced: string[] = [];

  /** @param prefix of the chunks' keys; ends with `/` */
  constructor(
    private readonly storage: Storage,
    private readonly prefix: string,
  ) {}

  /** Size in bytes; undefined when nothing was appended so far. */
  async size(): Promise<number | undefined> {
    for (;;) {
      await this.#list();
      const last = this.#chunks.at(-1);
      if (!last) return undefined;
      if (last.end !== undefined) return last.end;
      const sizeBytes = await this.storage.size(last.key);
      if (sizeBytes) return last.offset + sizeBytes;
      // Was merged concurrently, or emptied by a power failure.
      if (sizeBytes === 0) await this.storage.remove(last.key);
    }
  }

  /** Reads a range, cut off at the end of the log. Line ends stand for bytes that a power failure has taken. */
  async read({ from, lengthBytes }: { from: number; lengthBytes: number }): Promise<Buffer> {
    const pieces: Buffer[] = [];
    const end = from + lengthBytes;
    let at = from;
    let looks = 0;
    while (at < end) {
      const chunk = this.#chunks.findLast(({ offset }) => offset <= at);
      let piece = chunk && (await this.#readChunk(chunk, at, end - at));
      if (!piece?.length && looks > 0) {
        const next = this.#chunks.find(({ offset }) => offset > at);
        if (!next) break;
        if (looks === LOOKS) piece = Buffer.alloc(Math.min(next.offset, end) - at, '\n');
        else await setTimeout(LOOK_PAUSE_MS);
      }
      if (piece?.length) {
        pieces.push(piece);
        at += piece.length;
        looks = 0;
      } else {
        await this.#list();
        looks += 1;
      }
    }
    return Buffer.concat(pieces);
  }

  /**
   * Appends bytes to a log with several writers: all of them or nothing.
   *
   * @param bytesAt returns the bytes for the present size; called again when another process has appended first. Nothing is
   *   appended for no bytes
   */
  async append(bytesAt: (sizeBytes: number) => Uint8Array): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const offset = (await this.size()) ?? 0;
      const bytes = Buffer.from(bytesAt(offset));
      if (bytes.length === 0) return;
      const key = `${this.prefix}${offset}`;
      if (!(await this.storage.create(key, bytes))) {
        await setTimeout(Math.random() * Math.min(attempt * CONTENTION_WAIT_MS, LONGEST_CONTENTION_WAIT_MS));
        continue;
      }
      await this.#list();
      if (await this.#isLate(offset, bytes)) {
        await this.storage.remove(key);
        continue;
      }
      // The bytes are stored: a failed merge, e.g. on a full disk, is left to the next append.
      await this.#merge().catch(() => undefined);
      return;
    }
  }

  /**
   * Appends bytes to a log with one writer, which has asked for the {@link size} and counts on from there: all of them or nothing,
   * without a list. Repeat a failed call with the same arguments: what it stored all the same isn't stored twice.
   *
   * @param offset end of the log so far
   */
  async appendAt(offset: number, bytes: Uint8Array): Promise<void> {
    const key = `${this.prefix}${offset}`;
    // A chunk is there from a failed call, or from a killed writer whose request came late.
    if (!(await this.storage.create(key, bytes)) && !(await this.#hasStored(key, bytes)))
      await this.storage.put(key, bytes);
    const last = this.#chunks.at(-1);
    if (last?.offset === offset) this.#chunks.pop();
    else if (last) last.end ??= offset;
    this.#chunks.push({ key, offset, end: undefined });
    await this.#merge().catch(() => undefined);
  }

  /** Whether a chunk begins with these bytes. */
  async #hasStored(key: string, bytes: Uint8Array): Promise<boolean> {
    const range = { from: 0, lengthBytes: bytes.length };
    const stored = await this.storage.read(key, range).catch(undefinedIf('not_found'));
    return stored?.equals(bytes) ?? false;
  }

  /** Undefined once the chunk was merged. */
  async #readChunk(
    { key, offset, end }: Chunk,
    from: number,
    lengthBytes: number,
  ): Promise<Buffer | undefined> {
    const most = end === undefined ? lengthBytes : Math.min(lengthBytes, end - from);
    if (most <= 0) return undefined;
    const range = { from: from - offset, lengthBytes: most };
    return this.storage.read(key, range).catch(undefinedIf('not_found'));
  }

  /** Whether other processes had appended at this offset, and merged, before the chunk was created there. */
  async #isLate(offset: number, bytes: Buffer): Promise<boolean> {
    const around = this.#chunks.find((chunk) => chunk.offset <= offset && (chunk.end ?? 0) > offset);
    if (!around || around.key === `${this.prefix}${offset}`) return false;
    const there = await this.#readChunk(around, offset, bytes.length);
    return !there?.equals(bytes);
  }

  async #list(): Promise<void> {
    const found: Chunk[] = [];
    for await (const key of this.storage.keys(this.prefix)) {
      const range = chunkRange(key.slice(this.prefix.length));
      if (range) found.push({ key, ...range });
    }
    // A merged chunk precedes those that it replaces.
    found.sort((one, other) => one.offset - other.offset || (other.end ?? 0) - (one.end ?? 0));
    this.#chunks = [];
    this.#replaced = [];
    for (const chunk of found) {
      const last = this.#chunks.at(-1);
      if (last?.end !== undefined && chunk.offset < last.end) this.#replaced.push(chunk.key);
      else {
        if (last) last.end ??= chunk.offset;
        this.#chunks.push(chunk);
      }
    }
  }

  /** Merges consecutive small chunks. Readers find the bytes in either while both exist. */
  async #merge(): Promise<void> {
    const older = this.#chunks.slice(0, -RECENT_CHUNKS);
    if (older.filter((chunk) => lengthOf(chunk) < LARGE_CHUNK_BYTES).length < MERGED_CHUNKS) return;
    await this.#removeReplaced();
    let group: Chunk[] = [];
    for (const chunk of older) {
      if (lengthOf(chunk) >= LARGE_CHUNK_BYTES) {
        await this.#mergeGroup(group);
        group = [];
        continue;
      }
      group.push(chunk);
      if (chunk.end! - group[0]!.offset < LARGE_CHUNK_BYTES) continue;
      await this.#mergeGroup(group);
      group = [];
    }
    await this.#mergeGroup(group);
  }

  async #mergeGroup(group: Chunk[]): Promise<void> {
    const [first, last] = [group[0], group.at(-1)];
    if (!first || first === last) return;
    const pieces: Buffer[] = [];
    for (const chunk of group) {
      const piece = await this.#readChunk(chunk, chunk.offset, lengthOf(chunk));
      // Another process is merging them.
      if (piece?.length !== lengthOf(chunk)) return;
      pieces.push(piece);
    }
    const merged = {
      key: `${this.prefix}${first.offset}-${last!.end!}`,
      offset: first.offset,
      end: last!.end!,
    };
    await this.storage.put(merged.key, Buffer.concat(pieces));
    this.#chunks.splice(this.#chunks.indexOf(first), group.length, merged);
    this.#replaced = group.map(({ key }) => key);
    await this.#removeReplaced();
  }

  /** Those that can't be removed now are removed with the next merge. */
  async #removeReplaced(): Promise<void> {
    await this.storage.removeAll(this.#replaced);
    this.#replaced = [];
  }
}

/** Offsets in the last part of a chunk's key; undefined for another name. */
function chunkRange(name: string): { offset: number; end: number | undefined } | undefined {
  const [, offset, end] = /^(\d+)(?:-(\d+))?$/.exec(name) ?? [];
  if (offset === undefined) return undefined;
  return { offset: Number(offset), end: end === undefined ? undefined : Number(end) };
}

function lengthOf({ offset, end }: Chunk): number {
  return end! - offset;
}
