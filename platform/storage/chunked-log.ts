/**
 * An append-only log of a step or an operation, in immutable chunks. A chunk's key ends with the offset of its first byte, and
 * only one writer can create it: bytes never move, and a killed process leaves no partial chunk. A merged chunk's key ends with
 * its first and its end offset.
 */
import { setTimeout } from 'node:timers/promises';
import { undefinedIf } from '../../operations/errors.js';
import type { Storage } from './types.js';

/** Number of small chunks to merge. */
const MERGED_CHUNKS = 48;
/** Latest chunks that are never merged: another appender may not have seen later ones. */
const RECENT_CHUNKS = 16;
/** Chunks of this size aren't merged further. */
const LARGE_CHUNK_BYTES = 256 * 1024;
/** A lost race adds this much to the random wait before the next attempt, up to the limit. */
const CONTENTION_WAIT_MS = 10;
const LONGEST_CONTENTION_WAIT_MS = 100;
/** Attempts to find a missing chunk, which may be merging, before it counts as lost. */
const LOOKS = 5;
const LOOK_PAUSE_MS = 20;

interface Chunk {
  key: string;
  offset: number;
  /** Offset of the next chunk. Undefined for the last one: read its size. */
  end: number | undefined;
}

export class ChunkedLog {
  #chunks: Chunk[] = [];
  /** Keys of chunks that a merged chunk replaced. */
  #replaced: string[] = [];

  /** @param prefix of the chunks' keys; ends with `/` */
  constructor(
    private readonly storage: Storage,
    private readonly prefix: string,
  ) {}

  /** Size in bytes; undefined for a log without chunks. */
  async size(): Promise<number | undefined> {
    for (;;) {
      await this.#list();
      const last = this.#chunks.at(-1);
      if (!last) return undefined;
      if (last.end !== undefined) return last.end;
      const sizeBytes = await this.storage.size(last.key);
      if (sizeBytes) return last.offset + sizeBytes;
      // Merged concurrently, or emptied by a power failure.
      if (sizeBytes === 0) await this.storage.remove(last.key);
    }
  }

  /** Reads a range, up to the end of the log. Line ends replace bytes that a power failure took. */
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
   * Appends all bytes or nothing, to a log with several writers.
   *
   * @param bytesAt returns the bytes for a size, or none; called again when another process appended first
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
      // The bytes are stored. A failed merge, e.g. on a full disk, is left to the next append.
      await this.#merge().catch(() => undefined);
      return;
    }
  }

  /**
   * Appends all bytes or nothing, to a log with one writer that counts on from {@link size}. Repeat a failed call with the same
   * arguments.
   *
   * @param offset end of the log so far
   */
  async appendAt(offset: number, bytes: Uint8Array): Promise<void> {
    const key = `${this.prefix}${offset}`;
    // A failed call, or a killed writer's late request, may have left a chunk.
    if (!(await this.storage.create(key, bytes)) && !(await this.#hasStored(key, bytes)))
      await this.storage.put(key, bytes);
    const last = this.#chunks.at(-1);
    if (last?.offset === offset) this.#chunks.pop();
    else if (last) last.end ??= offset;
    this.#chunks.push({ key, offset, end: undefined });
    await this.#merge().catch(() => undefined);
  }

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

  /** Whether other processes appended and merged at this offset before the chunk was created. */
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
    // A merged chunk precedes the chunks that it replaces.
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

  /** Merges consecutive small chunks. Readers find the bytes in either form while both exist. */
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

  /** The next merge removes the rest. */
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
