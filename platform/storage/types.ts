/** Storage of data too large for Temporal's history: offloaded payloads, artifacts, logs, mailbox texts. */
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { defined } from '../../operations/json/defined.js';
import type { Settings } from '../settings/table.js';
import { bucketIn } from '../settings/types.js';

export interface StoredValue {
  key: string;
  sizeBytes: number;
  changedAt: Date;
}

/** A store of values by key: a folder, or a bucket of S3. The S3 driver throws {@link StorageError}s, the folder system errors. */
export interface Storage {
  /** Pause between two appends to a log, in milliseconds: each creates a file, or is a billed request. */
  readonly appendPauseMs: number;
  /** Stores bytes under a key, atomically. Durable once it resolves. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Stores bytes, atomically, under a key without a value. @returns false if the key has one */
  create(key: string, bytes: Uint8Array): Promise<boolean>;
  /** Moves a local file into storage. Once an aborted call rejects, nothing is stored. @throws the signal's reason */
  putFile(key: string, path: string, signal?: AbortSignal): Promise<void>;
  /** Reads a range, up to the value's end. Default: the whole value. @throws LonghaulError `not_found` */
  read(key: string, range?: { from: number; lengthBytes: number }): Promise<Buffer>;
  /** Streams a range. Default: the whole value. @throws LonghaulError `not_found` */
  stream(key: string, range?: { from: number; lengthBytes: number }): Promise<Readable>;
  /** Size in bytes; undefined for a missing key. */
  size(key: string): Promise<number | undefined>;
  /** Size, and a version that changes with the value: letters, digits and `-`. Undefined for a missing key. */
  about(key: string): Promise<{ sizeBytes: number; version: string; changedAt: Date } | undefined>;
  /** Values whose keys have a prefix, unordered. @param prefix ends with `/`. Default: all */
  list(prefix?: string): AsyncIterable<StoredValue>;
  /** The keys of {@link list}; cheaper for a folder. */
  keys(prefix?: string): AsyncIterable<string>;
  /** Removes a value, if it exists. */
  remove(key: string): Promise<void>;
  /** Removes many values, if they exist, in few requests. */
  removeAll(keys: AsyncIterable<string> | Iterable<string>): Promise<void>;
  /**
   * Tests whether values can be stored: writes one to a folder, or sends one cheap request to a store.
   *
   * @throws StorageError when the store doesn't answer, or refuses; a system error of the folder
   */
  probe(): Promise<void>;
}

/** Settings that choose a storage. Default: the home's folder. */
export type StorageChoice = Pick<Settings, 'home'> & Partial<StorageSettings>;

export type StorageSettings = Pick<
  Settings,
  'storage' | 'storageEndpoint' | 'storageRegion' | 'storageEncryption'
>;

/** Name of a storage for people: the folder's path, or the bucket with the store's address. */
export function storageName({ home, storage = 'folder', storageEndpoint }: StorageChoice): string {
  if (!bucketIn(storage)) return join(home, 'storage');
  return storageEndpoint === undefined ? storage : `${storage} at ${storageEndpoint}`;
}

/** Picks the settings that choose a storage. */
export function storageChoice(settings: StorageChoice): StorageChoice {
  const { home, storage, storageEndpoint, storageRegion, storageEncryption } = settings;
  return { home, ...defined({ storage, storageEndpoint, storageRegion, storageEncryption }) };
}
