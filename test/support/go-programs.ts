/** Go programs that tests run, built once. */
import { existsSync } from 'node:fs';
import { buildWithGo, type GoProgram } from '../../stack/temporal-install.js';

/**
 * Builds a program with `go install`, unless it is there.
 *
 * @param target path of the binary, with its version
 * @throws Error where Go or its module proxy is missing
 */
export async function installGoProgram(program: GoProgram, target: string): Promise<string> {
  if (existsSync(target)) return target;
  try {
    await buildWithGo(program, target, console.log, process.env);
    return target;
  } catch (error) {
    throw new Error(`${program.name} ${program.version} can't be built: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
