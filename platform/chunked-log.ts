/**
 * A log that several processes append to. It is stored in chunks, each written whole and once: the key of a chunk ends
 * with the offset of its first byte, and only one process can create that key. So appended bytes never move, and a killed
 * process leaves no part of a chunk behind. Many small chunks are merged into one whose key ends with the offsets of its
 * beginning and its end. A log with one writer needs no lists between appends.
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

  /** Size of a log with one writer, in bytes, once it has appended. */
  #writtenBytes: number | undefined;

  /**
   * @param prefix of the chunks' keys; ends with `/`
   * @param options `isOnlyWriter`: no other process appends at present; one that did before may still have a request under way
   */
  constructor(
    private readonly storage: Pick<
      Storage,
      'size' | 'read' | 'create' | 'put' | 'keys' | 'remove' | 'removeAll'
    >,
    private readonly prefix: string,
    private readonly options: { isOnlyWriter?: boolean } = {},
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

  /** Reads a range, cut off at the end of the log. */
  async read({ from, lengthBytes }: { from: number; lengthBytes: number }): Promise<Buffer> {
    const pieces: Buffer[] = [];
    const end = from + lengthBytes;
    let at = from;
    let isListed = false;
    while (at < end) {
      const chunk = this.#chunks.findLast(({ offset }) => offset <= at);
      const piece = chunk && (await this.#readChunk(chunk, at, end - at));
      if (piece?.length) {
        pieces.push(piece);
        at += piece.length;
        isListed = false;
      } else if (isListed) break;
      else {
        await this.#list();
        isListed = true;
      }
    }
    return Buffer.concat(pieces);
  }

  /**
   * Appends bytes: all of them or nothing.
   *
   * @param bytesAt returns the bytes for the present size; called again when another process has appended first. Nothing is
   *   appended for no bytes
   */
  async append(bytesAt: (sizeBytes: number) => Uint8Array): Promise<void> {
    if (this.options.isOnlyWriter) return this.#appendAlone(bytesAt);
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

  /** Appends where this process has stopped. */
  async #appendAlone(bytesAt: (sizeBytes: number) => Uint8Array): Promise<void> {
    const offset = (this.#writtenBytes ??= (await this.size()) ?? 0);
    const bytes = Buffer.from(bytesAt(offset));
    if (bytes.length === 0) return;
    const key = `${this.prefix}${offset}`;
    // A request of an earlier writer that arrives late can't replace what this one has stored; if it came first, nobody has
    // acknowledged its bytes.
    if (!(await this.storage.create(key, bytes))) await this.storage.put(key, bytes);
    const last = this.#chunks.at(-1);
    if (last?.offset === offset) this.#chunks.pop();
    else if (last) last.end ??= offset;
    this.#chunks.push({ key, offset, end: undefined });
    this.#writtenBytes = offset + bytes.length;
    await this.#merge().catch(() => undefined);
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
    await this.storage.removeAll(this.#replaced);
    this.#replaced = [];
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
    await this.storage.removeAll(group.map(({ key }) => key));
  }
}

/** Offsets in the last part of a chunk's key; undefined for another name. */
export function chunkRange(name: string): { offset: number; end: number | undefined } | undefined {
  const [, offset, end] = /^(\d+)(?:-(\d+))?$/.exec(name) ?? [];
  if (offset === undefined) return undefined;
  return { offset: Number(offset), end: end === undefined ? undefined : Number(end) };
}

function lengthOf({ offset, end }: Chunk): number {
  return end! - offset;
}
