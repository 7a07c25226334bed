/**
 * Log lines that storage doesn't take at present, e.g. on a full disk. They lie in a file of preallocated size, so a killed
 * worker leaves them to the next one on its home.
 */
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { newProcessFile, takeOverProcessFiles } from '../../platform/home/process-files.js';

/** Size of the file, in bytes. Further lines are in memory only. */
const SIZE_BYTES = 1024 * 1024;
/** Bytes that lines leave free, for records of written logs. */
const MARGIN_BYTES = 64 * 1024;

/** A line of a workflow's log. Without a line: all earlier lines are in that log. */
type Entry = [workflowId: string, line?: string];

/** Writes lines into an operation's log, except lines that it already ends with. */
export type RestoreLines = (workflowId: string, lines: string[]) => Promise<void>;

export class LineReserve {
  readonly #folder: string;
  #own: ReserveFile | undefined;
  readonly #others: ReserveFile[] = [];

  constructor(home: string) {
    this.#folder = join(home, 'waiting-lines');
    this.#create();
  }

  /** Keeps a line until {@link written}. Does nothing when the file is full or couldn't be created. */
  keep(workflowId: string, line: string): void {
    this.#own?.keep(workflowId, line);
  }

  written(workflowId: string): void {
    this.#own?.written(workflowId);
  }

  /** Writes the lines that killed workers left. @throws errors of `restore`; call it again later */
  async recover(restore: RestoreLines): Promise<void> {
    if (!this.#own) this.#create();
    this.#takeOver();
    for (let file = this.#others[0]; file; file = this.#others[0]) {
      for (const [workflowId, lines] of file.lines()) {
        await restore(workflowId, lines);
        file.written(workflowId);
      }
      file.remove();
      this.#others.shift();
    }
  }

  /** Removes the file, unless lines are left for the next worker. */
  close(): void {
    if (this.#own?.isEmpty) this.#own.remove();
    else this.#own?.close();
    this.#own = undefined;
  }

  #create(): void {
    const path = newProcessFile(this.#folder);
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeFileSync(path, Buffer.alloc(SIZE_BYTES), { mode: 0o600 });
      this.#own = new ReserveFile(path);
    } catch {
      // No room: lines wait in memory only.
      rmSync(path, { force: true });
    }
  }

  #takeOver(): void {
    for (const path of takeOverProcessFiles(this.#folder)) this.#others.push(new ReserveFile(path));
  }
}

/** Lines of JSON, up to a NUL. The file's size never changes. */
class ReserveFile {
  readonly #file: number;
  #at = 0;
  readonly #waiting = new Set<string>();

  constructor(private readonly path: string) {
    this.#file = openSync(path, 'r+');
    for (const [workflowId] of this.lines()) this.#waiting.add(workflowId);
    this.#at = this.#text().length;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  lines(): Map<string, string[]> {
    const lines = new Map<string, string[]>();
    for (const text of this.#text().toString().split('\n')) {
      const [workflowId, line] = parsed(text) ?? [];
      if (workflowId === undefined) continue;
      if (line === undefined) lines.delete(workflowId);
      else if (lines.get(workflowId)?.push(line) === undefined) lines.set(workflowId, [line]);
    }
    return lines;
  }

  keep(workflowId: string, line: string): void {
    if (this.#write([workflowId, line], SIZE_BYTES - MARGIN_BYTES)) this.#waiting.add(workflowId);
  }

  written(workflowId: string): void {
    if (!this.#waiting.delete(workflowId)) return;
    if (this.isEmpty) {
      this.#at = 0;
      this.#writeAt(Buffer.from('\0'));
    } else this.#write([workflowId], SIZE_BYTES);
  }

  close(): void {
    closeSync(this.#file);
  }

  remove(): void {
    this.close();
    rmSync(this.path, { force: true });
  }

  #write(entry: Entry, limit: number): boolean {
    const bytes = Buffer.from(`${JSON.stringify(entry)}\n\0`);
    if (this.#at + bytes.length > limit || !this.#writeAt(bytes)) return false;
    // The next entry overwrites the NUL.
    this.#at += bytes.length - 1;
    return true;
  }

  /** @returns false on a full disk whose file system writes every change to new blocks */
  #writeAt(bytes: Buffer): boolean {
    try {
      return writeSync(this.#file, bytes, 0, bytes.length, this.#at) === bytes.length;
    } catch {
      return false;
    }
  }

  #text(): Buffer {
    const bytes = readFileSync(this.path);
    const end = bytes.indexOf(0);
    return end < 0 ? bytes : bytes.subarray(0, end);
  }
}

/** Undefined for a truncated line. */
function parsed(text: string): Entry | undefined {
  try {
    return JSON.parse(text) as Entry;
  } catch {
    return undefined;
  }
}
