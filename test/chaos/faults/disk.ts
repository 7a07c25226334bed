/** Disks that fill: a tmpfs, whose size is a mount option, and which needs no image file. */
import { execFile, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Sizes of the writes that fill it: the last one takes a page, the least that a file takes. */
const WRITE_BYTES = [1024 * 1024, 4096];

/** A file system of its own, mounted on a folder. */
export class Disk {
  readonly #filler: string;

  private constructor(readonly path: string) {
    this.#filler = join(path, 'filler');
    process.once('exit', this.#unmountAtExit);
  }

  readonly #unmountAtExit = () => void this.unmount();

  /**
   * Mounts an empty file system.
   *
   * @param folder is created if it doesn't exist
   * @throws Error without root's rights
   */
  static async mount(folder: string, sizeMb: number): Promise<Disk> {
    mkdirSync(folder, { recursive: true });
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=0700`, 'tmpfs', folder]);
    } catch (error) {
      throw new Error(`a file system of its own needs root: ${(error as Error).message}`, { cause: error });
    }
    return new Disk(folder);
  }

  /** Takes all room, once: room that other files give back later is free. */
  fill(): void {
    const file = openSync(this.#filler, 'a');
    try {
      for (const bytes of WRITE_BYTES) writeUntilFull(file, Buffer.alloc(bytes));
    } finally {
      closeSync(file);
    }
  }

  /** Gives back the room that {@link fill} took. */
  free(): void {
    rmSync(this.#filler, { force: true });
  }

  /** Also while files are open on it: those stay usable for who has them open. */
  unmount(): void {
    process.off('exit', this.#unmountAtExit);
    if (existsSync(this.path)) spawnSync('umount', ['-l', this.path]);
  }
}

function writeUntilFull(file: number, block: Buffer): void {
  try {
    for (;;) writeSync(file, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
