/** Path of this installation's command line, and the shell command that runs it. Never uses `npx`, which may fetch a package. */
import { realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { attempt } from '../../operations/errors.js';
import { CODE_ROOT, IS_COMPILED } from '../code-root.js';

/** Folder of the built programs, `dist/bin`, even if TypeScript is run directly. */
const PROGRAMS = join(CODE_ROOT, IS_COMPILED ? 'bin' : 'dist/bin');

/** Absolute path of a built program, named as in `build-program.js`: `longhaul`, or one that Longhaul forks. */
export function builtProgram(name: string): string {
  return join(PROGRAMS, `${name}.js`);
}

/** Absolute path of `dist/bin/longhaul.js`. */
export const PROGRAM_PATH = builtProgram('longhaul');

const NAME = 'longhaul';
const LOCAL_BIN = join('node_modules', '.bin', NAME);

/**
 * Shell command that runs this installation from `folder`: `longhaul` if PATH resolves to it, the folder's
 * `node_modules/.bin/longhaul`, else `node` with the absolute path. Ignores PATH entries named `node_modules/.bin`, which `npm
 * run` adds.
 */
export function programCommand(
  folder = process.cwd(),
  path = process.env['PATH'] ?? '',
  program = PROGRAM_PATH,
): string {
  const realPath = (file: string) => attempt(() => realpathSync(file));
  const own = realPath(program);
  const isOwn = (candidate: string) => own !== undefined && realPath(candidate) === own;
  const onPath = path
    .split(delimiter)
    .filter((entry) => entry && !(basename(entry) === '.bin' && basename(dirname(entry)) === 'node_modules'))
    .map((entry) => join(entry, NAME))
    .find((candidate) => realPath(candidate) !== undefined);
  if (onPath !== undefined && isOwn(onPath)) return NAME;
  return isOwn(join(folder, LOCAL_BIN)) ? LOCAL_BIN : `node ${shellWord(program)}`;
}

/** Quotes a word for POSIX shells if it needs quotes. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
