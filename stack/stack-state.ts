/** Writing `stack.json`. Only the process that runs the stack writes it; everybody else reads. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readStackState, stackFile, type StackState } from '../platform/temporal-address.js';

/** Changes some fields, atomically; a field set to undefined is removed, and the file with its last field. */
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
  writeFileSync(written, `${JSON.stringify(state, null, 2)}\n`);
  renameSync(written, path);
}

/** Forgets the stack: nothing of it runs any more. */
export function clearStackState(home: string): void {
  rmSync(stackFile(home), { force: true });
}
