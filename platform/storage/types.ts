/** Storage of data that is too large for Temporal's history: offloaded payloads, artifacts, logs, texts of the mailbox. */
import type { Readable } from 'node:stream';

/** A value in a list. */
export interface StoredValue {
  key: string;
  sizeBytes: number;
  changedAt: Date;
}

/**
 * A store of values by key: a folder, or a bucket of S3. Errors of the store itself are {@link StorageError}s of the S3 driver, and
 * system errors of the folder.
 */
export interface Storage {
  /** Pause that a writer of a log keeps between two appends, in milliseconds: each makes a file, or is a billed request. */
  readonly appendPauseMs: number;
  /** Stores bytes under a key: all of them or nothing. Durable once it resolves. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Stores bytes under a key that has no value: all of them or nothing. @returns whether it had none */
  create(key: string, bytes: Uint8Array): Promise<boolean>;
  /**
   * Moves a local file into storage. The file is gone once it is stored.
   *
   * @param signal cancels it: nothing is copied any more, and no part of the value is stored, once this rejects
   * @throws the signal's reason
   */
  putFile(key: string, path: string, signal?: AbortSignal): Promise<void>;
  /** Reads a range, cut off at the value's end. Default: the whole value. @throws LonghaulError `not_found` */
  read(key: string, range?: { from: number; lengthBytes: number }): Promise<Buffer>;
  /** Streams a range. Default: the whole value. @throws LonghaulError `not_found` */
  stream(key: string, range?: { from: number; lengthBytes: number }): Promise<Readable>;
  /** Size in bytes; undefined for a missing key. */
  size(key: string): Promise<number | undefined>;
  /** Size, and a version that changes with the value: letters, digits and `-`. Undefined for a missing key. */
  about(key: string): Promise<{ sizeBytes: number; version: string; changedAt: Date } | undefined>;
  /** The values whose keys have a prefix, unordered. @param prefix ends with `/`. Default: all */
  list(prefix?: string): AsyncIterable<StoredValue>;
  /** The keys of {@link list}, which for a folder is cheaper. */
  keys(prefix?: string): AsyncIterable<string>;
  /** Removes a value, if it exists. */
  remove(key: string): Promise<void>;
  /** Removes many values, if they exist: in few requests. */
  removeAll(keys: AsyncIterable<string> | Iterable<string>): Promise<void>;
  /**
   * Asks whether values can be stored: by writing one to a folder, by one cheap request to a store.
   *
   * @throws StorageError when the store doesn't answer, or refuses; a system error of the folder
   */
  probe(): Promise<void>;
}
