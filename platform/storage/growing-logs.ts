/**
 * Logs of steps over a store that can't append. The log `logs/O/C/1` is made of the chunks `logs/O/C/1.log/…` of a
 * {@link ChunkedLog}; everything else is one object under its key.
 */
import { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { LonghaulError } from '../../operations/errors.js';
import { ChunkedLog, chunkRange } from '../chunked-log.js';
import { isStepLogKey } from '../storage-keys.js';
import type { Objects } from './s3/objects.js';
import type { Storage, StoredValue } from './types.js';

const SUFFIX = '.log/';
/** Bytes of a log that are streamed at a time. */
const STREAMED_BYTES = 1024 * 1024;
/** Number of logs whose end is remembered for the next append. */
const REMEMBERED = 1_000;

export function withGrowingLogs(objects: Objects): Omit<Storage, 'appendPauseMs'> {
  /** Logs that this process appends to. */
  const written = new LRUCache<string, ChunkedLog>({ max: REMEMBERED });
  const open = (key: string) => new ChunkedLog(objects, key + SUFFIX, { isOnlyWriter: true });
  const chunksOf = async (key: string) => {
    const chunks: StoredValue[] = [];
    for await (const chunk of objects.list(key + SUFFIX)) chunks.push(chunk);
    return chunks;
  };
  const removeLog = async (key: string) => {
    written.delete(key);
    await objects.removeAll(objects.keys(key + SUFFIX));
  };
  /** Replaces a log by one chunk. */
  const replace = async (key: string, sizeBytes: number, store: (chunk: string) => Promise<void>) => {
    const before = await chunksOf(key);
    const chunk = `${key}${SUFFIX}0-${sizeBytes}`;
    written.delete(key);
    await store(chunk);
    await objects.removeAll(before.map((one) => one.key).filter((one) => one !== chunk));
  };
  return {
    ...objects,
    async put(key, bytes) {
      if (!isStepLogKey(key)) return objects.put(key, bytes);
      return replace(key, bytes.length, (chunk) => objects.put(chunk, bytes));
    },
    async create(key, bytes) {
      if (isStepLogKey(key)) throw new LonghaulError('internal', `${key}: logs of steps are appended to`);
      return objects.create(key, bytes);
    },
    async putFile(key, path, signal) {
      if (!isStepLogKey(key)) return objects.putFile(key, path, signal);
      const { stat } = await import('node:fs/promises');
      return replace(key, (await stat(path)).size, (chunk) => objects.putFile(chunk, path, signal));
    },
    async append(key, bytes) {
      if (!isStepLogKey(key))
        throw new LonghaulError('internal', `${key}: only logs of steps are appended to`);
      let log = written.get(key);
      if (!log) written.set(key, (log = open(key)));
      try {
        await log.append(() => bytes);
      } catch (error) {
        // Its end is read again.
        written.delete(key);
        throw error;
      }
    },
    async read(key, range) {
      if (!isStepLogKey(key)) return objects.read(key, range);
      const log = open(key);
      const sizeBytes = await log.size();
      if (sizeBytes === undefined) throw missing(key);
      return log.read(range ?? { from: 0, lengthBytes: sizeBytes });
    },
    async stream(key, range) {
      if (!isStepLogKey(key)) return objects.stream(key, range);
      const log = open(key);
      const sizeBytes = await log.size();
      if (sizeBytes === undefined) throw missing(key);
      const { from, lengthBytes } = range ?? { from: 0, lengthBytes: sizeBytes };
      return Readable.from(pieces(log, from, Math.min(from + lengthBytes, sizeBytes)), { objectMode: false });
    },
    async size(key) {
      if (!isStepLogKey(key)) return objects.size(key);
      // A writer asks for the size first: what it appends follows what it has seen.
      written.delete(key);
      return open(key).size();
    },
    async about(key) {
      if (!isStepLogKey(key)) return objects.about(key);
      const about = logOf(await chunksOf(key), key);
      return about && { ...about, version: `${about.sizeBytes}-${about.changedAt.getTime()}` };
    },
    async *list(prefix) {
      let key: string | undefined;
      let chunks: StoredValue[] = [];
      const finished = () => (key === undefined ? undefined : logOf(chunks, key));
      for await (const value of objects.list(prefix)) {
        const log = logKeyIn(value.key);
        if (log === undefined || log !== key) {
          const before = finished();
          if (before) yield before;
          [key, chunks] = [log, []];
        }
        if (log === undefined) yield value;
        else chunks.push(value);
      }
      const last = finished();
      if (last) yield last;
    },
    async *keys(prefix) {
      for await (const { key } of this.list(prefix)) yield key;
    },
    async remove(key) {
      await (isStepLogKey(key) ? removeLog(key) : objects.remove(key));
    },
    async removeAll(keys) {
      await objects.removeAll(
        (async function* () {
          for await (const key of keys) {
            if (isStepLogKey(key)) {
              written.delete(key);
              yield* objects.keys(key + SUFFIX);
            } else yield key;
          }
        })(),
      );
    },
  };
}

function missing(key: string): LonghaulError {
  return new LonghaulError('not_found', `nothing is stored under ${key}`);
}

/** Key of the log that a chunk belongs to. */
function logKeyIn(key: string): string | undefined {
  const at = key.lastIndexOf(SUFFIX);
  const log = at < 0 ? '' : key.slice(0, at);
  return isStepLogKey(log) ? log : undefined;
}

/** The log that chunks make up; undefined for none. */
function logOf(chunks: StoredValue[], key: string): StoredValue | undefined {
  if (chunks.length === 0) return undefined;
  const ends = chunks.map((chunk) => {
    const range = chunkRange(chunk.key.slice(key.length + SUFFIX.length));
    return range ? (range.end ?? range.offset + chunk.sizeBytes) : 0;
  });
  const times = chunks.map(({ changedAt }) => changedAt.getTime());
  return { key, sizeBytes: Math.max(...ends), changedAt: new Date(Math.max(...times)) };
}

async function* pieces(log: ChunkedLog, from: number, end: number): AsyncGenerator<Buffer> {
  for (let at = from; at < end;) {
    const piece = await log.read({ from: at, lengthBytes: Math.min(STREAMED_BYTES, end - at) });
    if (piece.length === 0) return;
    yield piece;
    at += piece.length;
  }
}
