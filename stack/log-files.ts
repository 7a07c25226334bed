/** Logs of a stack's processes: `LONGHAUL_HOME/logs/<name>.log`, rotated to `<name>.log.1`. */
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';

const LARGEST_LOG_BYTES = 10 * 1024 * 1024;
const CHECK_INTERVAL_MS = 60_000;

export function logPath(home: string, name: string): string {
  return join(home, 'logs', `${name}.log`);
}

export function openLog(home: string, name: string): number {
  const path = logPath(home, name);
  mkdirSync(join(home, 'logs'), { recursive: true });
  return openSync(path, 'a');
}

/** Appends lines to a log. Drops and counts lines that it can't write: logging never ends a process. */
export class LogFile {
  #descriptor: number | undefined;
  #dropped = 0;

  constructor(
    private readonly home: string,
    private readonly name: string,
  ) {}

  append(line: string): void {
    const lost = this.#dropped ? `\n${this.#dropped} lines were lost: they could not be written whole\n` : '';
    // Starts with a line break, because the previous line may be incomplete.
    try {
      this.#descriptor ??= openLog(this.home, this.name);
      appendFileSync(this.#descriptor, `${lost}${line}\n`);
      this.#dropped = 0;
    } catch {
      this.#dropped += 1;
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/**
 * Rotates a large log to `.log.1`, and truncates it in place: processes that hold it open all append.
 *
 * @returns a function that stops the rotation
 */
export function startLogRotation(home: string, name: string): () => void {
  const path = logPath(home, name);
  const check = () => {
    try {
      if (statSync(path).size < LARGEST_LOG_BYTES) return;
      copyFileSync(path, `${path}.1`);
      truncateSync(path);
    } catch {
      // A failed rotation (log deleted, disk full) must not end the stack.
    }
  };
  check();
  const timer = setInterval(check, CHECK_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

/** Current size in bytes, to pass to {@link logTail} later. */
export function logSize(home: string, name: string): number {
  try {
    return statSync(logPath(home, name)).size;
  } catch {
    return 0;
  }
}

/** The last lines of a log, starting at `fromByte`. */
export function logTail(home: string, name: string, fromByte: number, lines = 12): string[] {
  try {
    const text = readFileSync(logPath(home, name)).subarray(fromByte).toString('utf8');
    return text.split('\n').filter(Boolean).slice(-lines);
  } catch {
    return [];
  }
}
