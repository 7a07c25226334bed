/** Output of the processes that a test file starts, in files that test/reporter.js shows when a test fails. */
import { appendFileSync, mkdirSync } from 'node:fs';
import type { ChildProcess } from 'node:child_process';
import { join, relative } from 'node:path';

export const LOGS = 'test-logs';

let started = 0;

/** Path of the test file that runs; undefined outside of Jest. */
function testPath(): string | undefined {
  const { expect } = globalThis as { expect?: { getState(): { testPath?: string } } };
  return expect?.getState().testPath;
}

/**
 * Appends the output of a process to `test-logs/<test file>/<n>-<name>.log`, from now on.
 *
 * @param name e.g. `worker`
 */
export function keepOutput({ stdout, stderr }: Pick<ChildProcess, 'stdout' | 'stderr'>, name: string): void {
  const path = testPath();
  if (path === undefined) return;
  const folder = join(LOGS, relative(process.cwd(), path));
  const log = join(folder, `${++started}-${name.replace(/[^\w.-]+/g, '-').slice(0, 60)}.log`);
  const append = (chunk: Buffer) => {
    mkdirSync(folder, { recursive: true });
    appendFileSync(log, chunk);
  };
  stdout?.on('data', append);
  stderr?.on('data', append);
}
