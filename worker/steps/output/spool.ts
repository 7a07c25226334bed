/**
 * The spool of a step's run: files `0`, `1`, ... with its output, written by its launcher's relay, and a cursor. Output before
 * the cursor is in the log. Files before it are removed, which lets the relay write more.
 */
import { open, readdir, rename, rm, stat, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedIfMissing } from '../../../platform/home/atomic-files.js';
import { readJson } from '../files.js';

/** The relay renames this file while it waits for space on a full disk, and once it has written the last output. */
export const SPOOL_OPEN_FILE = 'open';
const WAITING_FILE = 'waiting';
const ENDED_FILE = 'ended';

const READ_BYTES = 256 * 1024;

export interface SpoolPosition {
  file: number;
  /** In bytes. */
  offset: number;
}

/** The output before this position is in the log. */
export interface Cursor extends SpoolPosition {
  /** Number of bytes from there that belong to a secret whose mask is already in the log. */
  covered: number;
  /** Size of the log up to there, in bytes: a killed worker may have written more. */
  logBytes: number;
  /** Whether all output is in the log. */
  isDone?: true;
}

export function spoolFolder(folder: string): string {
  return join(folder, 'spool');
}

/** The cursor of a run; undefined when it has none, or it was cut off. */
export async function readCursor(folder: string): Promise<Cursor | undefined> {
  return readJson(join(folder, 'cursor.json'));
}

/** Number of the first file left in a run's spool. */
export async function firstFile(folder: string): Promise<number> {
  const names = (await readdir(spoolFolder(folder)).catch(undefinedIfMissing)) ?? [];
  const numbers = names.filter((name) => /^\d+$/.test(name)).map(Number);
  return numbers.length ? Math.min(...numbers) : 0;
}

/** Replaces the cursor atomically. It need not survive the host, because no step does. */
export async function writeCursor(folder: string, cursor: Cursor): Promise<void> {
  const unfinished = join(folder, 'cursor.tmp');
  try {
    await writeFile(unfinished, JSON.stringify(cursor), { mode: 0o600 });
    await rename(unfinished, join(folder, 'cursor.json'));
  } catch (error) {
    // A full disk, perhaps for the rest of the step's run.
    await rm(unfinished, { force: true });
    throw error;
  }
}

export class SpoolReader {
  readonly #folder: string;
  #file: number;
  #offset: number;
  #handle: FileHandle | undefined;
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  /** Sizes of the files before the current one that still exist. */
  readonly #sizes = new Map<number, number>();

  constructor(folder: string, from: SpoolPosition) {
    this.#folder = spoolFolder(folder);
    this.#file = from.file;
    this.#offset = from.offset;
  }

  /** The next output; empty when there is none now. Missing files count as empty. */
  async read(): Promise<Buffer> {
    for (;;) {
      // Checked before the read: a file is complete once the next one exists.
      const isComplete = await exists(join(this.#folder, String(this.#file + 1)));
      const read = await this.#readFile();
      if (read.length > 0 || !isComplete) return read;
      this.#sizes.set(this.#file, this.#offset);
      await this.close();
      this.#file += 1;
      this.#offset = 0;
    }
  }

  /** Whether the relay has written the last output. */
  isEnded(): Promise<boolean> {
    return exists(join(this.#folder, ENDED_FILE));
  }

  /** Whether the relay waits for space on a full disk. */
  isWaiting(): Promise<boolean> {
    return exists(join(this.#folder, WAITING_FILE));
  }

  /** The position this many bytes back; they must have been read since the last {@link removeBefore}. */
  positionBefore(bytes: number): SpoolPosition {
    let file = this.#file;
    let offset = this.#offset - bytes;
    while (offset < 0) {
      file -= 1;
      offset += this.#sizes.get(file)!;
    }
    return { file, offset };
  }

  async removeBefore({ file }: SpoolPosition): Promise<void> {
    for (const before of [...this.#sizes.keys()].filter((one) => one < file)) {
      await rm(join(this.#folder, String(before)), { force: true });
      this.#sizes.delete(before);
    }
  }

  async remove(): Promise<void> {
    await this.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #readFile(): Promise<Buffer> {
    this.#handle ??= await open(join(this.#folder, String(this.#file))).catch(undefinedIfMissing);
    if (!this.#handle) return Buffer.alloc(0);
    const { bytesRead } = await this.#handle.read(this.#buffer, 0, READ_BYTES, this.#offset);
    this.#offset += bytesRead;
    return Buffer.from(this.#buffer.subarray(0, bytesRead));
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(undefinedIfMissing)) !== undefined;
}
