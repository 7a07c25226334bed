/** Loads a storage's driver on first use: the AWS SDK takes time and memory that other homes don't need. */
import type { Storage } from './types.js';

/** Minimum pause between two appends to a log in S3. Readers see a line at most this much later. */
const APPEND_PAUSE_MS = 2_000;

/** @param load called once */
export function lazyStorage(load: () => Promise<Omit<Storage, 'appendPauseMs'>>): Storage {
  let loading: ReturnType<typeof load> | undefined;
  const loaded = () => (loading ??= load());
  return {
    appendPauseMs: APPEND_PAUSE_MS,
    put: async (key, bytes) => (await loaded()).put(key, bytes),
    create: async (key, bytes) => (await loaded()).create(key, bytes),
    putFile: async (key, path, signal) => (await loaded()).putFile(key, path, signal),
    read: async (key, range) => (await loaded()).read(key, range),
    stream: async (key, range) => (await loaded()).stream(key, range),
    size: async (key) => (await loaded()).size(key),
    about: async (key) => (await loaded()).about(key),
    async *list(prefix) {
      yield* (await loaded()).list(prefix);
    },
    async *keys(prefix) {
      yield* (await loaded()).keys(prefix);
    },
    remove: async (key) => (await loaded()).remove(key),
    removeAll: async (keys) => (await loaded()).removeAll(keys),
    probe: async () => (await loaded()).probe(),
  };
}
