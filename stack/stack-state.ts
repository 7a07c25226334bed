/** Writes `stack.json`. Only the process that runs the stack writes it; other processes read it. */
import { mkdirSync, rmSync } from 'node:fs';
import { writeFileAtomically } from '../platform/atomic-files.js';
import { isDiskFullError } from '../platform/disk.js';
import { readStackState, stackFile, type StackState } from '../platform/temporal-address.js';

/**
 * Changes some fields atomically; a field set to undefined is removed, and the file with its last field. On a full disk the
 * file stays unchanged.
 */
export function updateStackState(
  home: string,
  change: { [Name in keyof StackState]: StackState[Name] | undefined },
): void {
  const state = { ...readStackState(home), ...change };
  const path = stackFile(home);
  if (Object.values(state).every((value) => value === undefined)) {
    rmSync(path, { force: true });
    return;
  }
  mkdirSync(home, { recursive: true });
  try {
    writeFileAtomically(path, `${JSON.stringify(state, null, 2)}\n`);
  } catch (error) {
    // The supervisor keeps track of its processes without the file.
    if (!isDiskFullError(error)) throw error;
  }
}

/** Removes the state of a stack that no longer runs. */
export function clearStackState(home: string): void {
  rmSync(stackFile(home), { force: true });
}
