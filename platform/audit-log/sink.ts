/** The open file of an audit log: appends text, and syncs it to the disk in batches. */
import { closeSync, fdatasync, fstatSync, openSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';

const sync = promisify(fdatasync);

/** Mode of the files: for the server's user alone. */
const MODE = 0o600;

export class AuditSink {
  readonly #descriptor: number;
  #bytes = 0;
  /** Number of bytes that are on the disk for certain. */
  #syncedBytes = 0;
  #syncing: Promise<void> | undefined;
  #isClosed = false;

  /** @throws an error of the file system, also for an existing file */
  constructor(path: string) {
    this.#descriptor = openSync(path, 'ax', MODE);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isSynced(): boolean {
    return this.#syncedBytes === this.#bytes;
  }

  /**
   * Appends as much as there is room for.
   *
   * @returns the number of bytes written
   * @throws an error of the file system, when nothing was written
   */
  append(bytes: Buffer): number {
    const written = writeSync(this.#descriptor, bytes);
    if (written === 0) throw new Error('the system has written nothing');
    this.#bytes += written;
    return written;
  }

  /**
   * Resolves once everything appended so far is on the disk. Calls that come while a sync runs share the next one.
   *
   * @throws an error of the file system, also when the file is no longer in its folder
   */
  async synced(): Promise<void> {
    const goal = this.#bytes;
    while (this.#syncedBytes < goal) {
      this.#syncing ??= this.#sync().finally(() => (this.#syncing = undefined));
      await this.#syncing;
    }
  }

  /** Closes the file once it is synced. */
  async close(): Promise<void> {
    try {
      await this.synced();
    } finally {
      if (!this.#isClosed) closeSync(this.#descriptor);
      this.#isClosed = true;
    }
  }

  async #sync(): Promise<void> {
    const goal = this.#bytes;
    if (fstatSync(this.#descriptor).nlink === 0) throw new Error('the file was removed from its folder');
    await sync(this.#descriptor);
    this.#syncedBytes = goal;
  }
}
