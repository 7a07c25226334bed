/**
 * The work of a process when it crashed: a file of the home, written before each piece of work that can end the process. The
 * next worker of the home puts it into storage, where all workers see it.
 */
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import { newProcessFile, takeOverProcessFiles } from '../../platform/home/process-files.js';
import type { Storage } from '../../platform/storage/index.js';

const NOTHING = Buffer.from('\n');

/** Value that storage gets if the process ends now, and its key. */
export interface Crash {
  key: string;
  value: object;
}

export class CrashRecord {
  readonly #path: string;
  readonly #file: number;

  constructor(home: string) {
    const folder = folderOf(home);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#path = newProcessFile(folder);
    this.#file = openSync(this.#path, 'w', 0o600);
  }

  /** Differs for every record. */
  get id(): string {
    return basename(this.#path);
  }

  /** Costs one small write to the page cache, which outlives the process. A full disk loses it. @param bytes of {@link crashBytes} */
  set(bytes: Buffer = NOTHING): void {
    try {
      writeSync(this.#file, bytes, 0, bytes.length, 0);
    } catch {
      // The work counts for more than its record.
    }
  }

  close(): void {
    closeSync(this.#file);
    rmSync(this.#path, { force: true });
  }
}

export function crashBytes(crash: Crash): Buffer {
  return Buffer.from(`${JSON.stringify(crash)}\n`);
}

/** Stores what processes of this home were doing when they ended without closing their records. */
export async function storeCrashes(home: string, storage: Storage): Promise<void> {
  for (const path of takeOverProcessFiles(folderOf(home))) {
    const crash = crashIn(readFileSync(path, 'utf8'));
    if (crash) await storage.put(crash.key, Buffer.from(JSON.stringify(crash.value)));
    rmSync(path, { force: true });
  }
}

function crashIn(text: string): Crash | undefined {
  const [line] = text.split('\n', 1);
  try {
    return line ? (JSON.parse(line) as Crash) : undefined;
  } catch {
    // The process ended within the write.
    return undefined;
  }
}

function folderOf(home: string): string {
  return join(home, 'crash-records');
}
