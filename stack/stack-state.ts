/** Writing `stack.json`. Only the process that runs the stack writes it; everybody else reads. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readStackState, stackFile, type StackState } from '../platform/temporal-address.js';

/**
 * Changes some fields, atomically; a field set to undefined is removed, and the file with its last field. On a full disk the
 * file stays as it was.
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
  const written = `${path}.${process.pid}`;
  try {
    writeFileSync(written, `${JSON.stringify(state, null, 2)}\n`);
    renameSync(written, path);
  } catch (error) {
    rmSync(written, { force: true });
    // A process that was started has to be kept track of, and it is, by its supervisor.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** Forgets the stack: nothing of it runs any more. */
export function clearStackState(home: string): void {
  rmSync(stackFile(home), { force: true });
}
