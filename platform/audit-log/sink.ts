/** The open file of an audit log: appends text, and syncs it to the disk in batches. */
import { closeSync, fdatasync, fstatSync, openSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';

const sync = promisify(fdatasync);

const MODE = 0o600;

export class AuditSink {
  readonly #descriptor: number;
  #bytes = 0;
  #syncedBytes = 0;
  #syncing: Promise<void> | undefined;
  #isClosed = false;

  /** @throws a file system error, also for an existing file */
  constructor(path: string) {
    this.#descriptor = openSync(path, 'ax', MODE);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isSynced(): boolean {
    return this.#syncedBytes === this.#bytes;
  }

  /** Appends as much as there is room for. @returns how many bytes. @throws a file system error when nothing was written */
  append(bytes: Buffer): number {
    const written = writeSync(this.#descriptor, bytes);
    if (written === 0) throw new Error('the system has written nothing');
    this.#bytes += written;
    return written;
  }

  /**
   * Resolves once everything so far is on the disk. Calls during a sync share the next one.
   *
   * @throws a file system error, also when the file is no longer in its folder
   */
  async synced(): Promise<void> {
    const goal = this.#bytes;
    while (this.#syncedBytes < goal) {
      this.#syncing ??= this.#sync().finally(() => (this.#syncing = undefined));
      await this.#syncing;
    }
  }

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
