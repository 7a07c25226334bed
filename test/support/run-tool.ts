/** Compilers and package managers that tests run. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { INSTALL_LIMIT_MS } from './install-once.js';

/**
 * Runs a tool to its end.
 *
 * @returns its output
 * @throws Error with its output if it fails, or with its name where it isn't installed
 */
export async function runTool(
  tool: string,
  args: readonly string[],
  cwd: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<string> {
  const options = { cwd, timeout: INSTALL_LIMIT_MS, maxBuffer: 64 * 1024 * 1024 };
  try {
    const env = { ...process.env, ...environment };
    const { stdout, stderr } = await promisify(execFile)(tool, args, { ...options, env });
    return stdout + stderr;
  } catch (error) {
    const { code, stdout, stderr } = error as NodeJS.ErrnoException & { stdout?: string; stderr?: string };
    const reason = code === 'ENOENT' ? `${tool} is not on PATH` : [stdout, stderr].join('\n');
    throw new Error(`${tool} ${args.join(' ')} in ${cwd}: ${reason}`, { cause: error });
  }
}
