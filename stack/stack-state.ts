/** Writes `stack.json`. Only the process that runs the stack writes it; other processes read it. */
import { closeSync, fstatSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { writeFileAtomically } from '../platform/atomic-files.js';
import { isDiskFullError } from '../platform/disk.js';
import { readStackState, stackFile, type StackState } from '../platform/temporal-address.js';

/** Size of the file, filled with spaces: later contents have room in it, also on a full disk. More than a state takes. */
const SIZE_BYTES = 1024;

/**
 * Changes some fields atomically; a field set to undefined is removed, and the file with its last field. On a full disk the
 * file is overwritten in place: the next start ends the processes that it names.
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

/** Writes into the blocks that a file has. Does nothing where that isn't possible: the supervisor itself needs no file. */
function overwrite(path: string, text: string): void {
  let file: number | undefined;
  try {
    file = openSync(path, 'r+');
    // A longer text could be cut off, and no text is better than a part.
    if (fstatSync(file).size === Buffer.byteLength(text)) writeSync(file, text, 0);
  } catch {
    // There is no file yet, or its file system writes every change to other blocks.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Removes the state of a stack that no longer runs. */
export function clearStackState(home: string): void {
  rmSync(stackFile(home), { force: true });
}
