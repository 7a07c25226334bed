/**
 * Files of the audit log: `20261123T155012345Z-4711-3f0c6b.0001.jsonl`. Each process writes its own, so a kill can cut off only
 * its last line.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fdatasync, fstatSync, openSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const FILE = /^(\d{8}T\d{9}Z-\d+-[0-9a-f]{6})\.(\d{4,})\.jsonl$/;

/** Start time, PID, and random digits because processes in containers share PIDs. */
export function newFilesName(nowMs: number, pid: number): string {
  return `${new Date(nowMs).toISOString().replaceAll(/[-:.]/g, '')}-${pid}-${randomBytes(3).toString('hex')}`;
}

export function auditFilePath(folder: string, name: string, part: number): string {
  return join(folder, `${name}.${String(part).padStart(4, '0')}.jsonl`);
}

/** Paths of the log's files by process, processes by start time, and files in the order written. */
export function auditFilesIn(folder: string): string[][] {
  const processes = new Map<string, { path: string; part: number }[]>();
  for (const file of readdirSync(folder).sort()) {
    const [, name, part] = FILE.exec(file) ?? [];
    if (name === undefined) continue;
    const files = processes.get(name) ?? [];
    files.push({ path: join(folder, file), part: Number(part) });
    processes.set(name, files);
  }
  return [...processes.values()].map((files) =>
    files.sort((one, other) => one.part - other.part).map(({ path }) => path),
  );
}

const sync = promisify(fdatasync);

const MODE = 0o600;

/** An open file: appends text, and syncs it to the disk in batches. */
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
