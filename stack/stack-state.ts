/** Writes `stack.json`. Only the process that runs the stack writes it. */
import { closeSync, fstatSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { writeFileAtomically } from '../platform/home/atomic-files.js';
import { isDiskFullError } from '../platform/home/disk.js';
import { readStackState, stackFile, type StackState } from '../platform/temporal/address.js';

/** Larger than any state. Padding with spaces reserves room for later contents, even on a full disk. */
const SIZE_BYTES = 1024;

/**
 * Changes fields atomically, or removes them (undefined); the file goes with the last one. On a full disk it overwrites the file
 * in place, because the next start ends the processes named there.
 */
export function updateStackState(
  home: string,
  change: { [Name in keyof StackState]: StackState[Name] | undefined },
): void {
  const state = { ...readStackState(home), ...change };
  const path = stackFile(home);
  const text = `${JSON.stringify(state, null, 2)}\n`.padEnd(SIZE_BYTES);
  if (Object.values(state).every((value) => value === undefined)) {
    rmSync(path, { force: true });
    return;
  }
  mkdirSync(home, { recursive: true });
  try {
    writeFileAtomically(path, text);
  } catch (error) {
    if (!isDiskFullError(error)) throw error;
    overwrite(path, text);
  }
}

/** Writes into the file's existing blocks. Ignores failures: the supervisor itself needs no file. */
function overwrite(path: string, text: string): void {
  let file: number | undefined;
  try {
    file = openSync(path, 'r+');
    // A longer text could be cut off, which is worse than no update.
    if (fstatSync(file).size === Buffer.byteLength(text)) writeSync(file, text, 0);
  } catch {
    // The file is missing, or its file system needs new blocks for every change.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

export function clearStackState(home: string): void {
  rmSync(stackFile(home), { force: true });
}
