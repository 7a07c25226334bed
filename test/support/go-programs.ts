/** Go programs that tests run, built once. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { buildWithGo, type GoProgram } from '../../stack/temporal/install.js';
import { installOnce } from './install-once.js';
import { runTool } from './run-tool.js';

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

/**
 * Builds the program of a module of the repository, unless that has been done for its very sources.
 *
 * @param name of the folder in the cache
 * @param module folder of go.mod
 * @returns path of the binary
 */
export async function buildGoModule(name: string, module: string): Promise<string> {
  const inputs = globSync(['**/*.go', 'go.mod', 'go.sum', '!**/*_test.go'], { cwd: module, absolute: true });
  const folder = await installOnce(name, inputs.toSorted(), async (target) => {
    await runTool('go', ['build', '-o', join(target, 'program'), '.'], module);
  });
  return join(folder, 'program');
}
