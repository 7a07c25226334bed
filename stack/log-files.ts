/** The logs of a stack's processes: `LONGHAUL_HOME/logs/<name>.log`, the one before as `<name>.log.1`. */
import { copyFileSync, mkdirSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

/** Size from which a log becomes the one before. */
const LARGEST_LOG_BYTES = 10 * 1024 * 1024;
const CHECK_INTERVAL_MS = 60_000;

/** Where the log of a process is. */
export function logPath(home: string, name: string): string {
  return join(home, 'logs', `${name}.log`);
}

/** Opens a log for appending, and the folder for it. */
export function openLog(home: string, name: string): number {
  const path = logPath(home, name);
  mkdirSync(join(home, 'logs'), { recursive: true });
  return openSync(path, 'a');
}

/**
 * Keeps a log from growing without end while processes hold it open: its text is copied aside and the file emptied
 * in place, which is safe because all of them append.
 *
 * @returns a function that ends the watch
 */
export function keepLogBounded(home: string, name: string): () => void {
  const path = logPath(home, name);
  const check = () => {
    try {
      if (statSync(path).size < LARGEST_LOG_BYTES) return;
      copyFileSync(path, `${path}.1`);
      truncateSync(path);
    } catch {
      // A log that can't be turned over (deleted, disk full) is no reason to end the stack.
    }
  };
  check();
  const timer = setInterval(check, CHECK_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

/** How long a log is now, to read later what was added. */
export function logSize(home: string, name: string): number {
  try {
    return statSync(logPath(home, name)).size;
  } catch {
    return 0;
  }
}

/** The last lines that were written to a log from `fromByte` on. */
export function logTail(home: string, name: string, fromByte: number, lines = 12): string[] {
  try {
    const text = readFileSync(logPath(home, name)).subarray(fromByte).toString('utf8');
    return text.split('\n').filter(Boolean).slice(-lines);
  } catch {
    return [];
  }
}
