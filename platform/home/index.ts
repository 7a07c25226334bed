/** Checks and prepares the home (LONGHAUL_HOME), the folder of a stack's data, before anything is written. */
import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  readlinkSync,
  statSync,
  type Stats,
} from 'node:fs';
import { dirname, join, parse } from 'node:path';
import { attempt } from '../../operations/errors.js';
import { readIfThere, writeFileAtomically } from './atomic-files.js';
import { isDiskFullError } from './disk.js';
import { longhaulPackage } from './package.js';

/** The home can't be used. The message says which path, what was expected, what came and what to do. */
class HomeError extends Error {
  override name = 'HomeError';
}

/** Version of a home's format. Increment it when earlier versions must not use the home. */
const FORMAT = 1;

/** The user's umask in octal, for pipeline steps. */
export const UMASK_VARIABLE = 'LONGHAUL_UMASK';

/**
 * Prepares a home for writing: creates the folder, makes it private, writes the format file.
 *
 * @param say gets warnings
 * @throws HomeError when it can't be created, read or written, or a newer Longhaul wrote it
 */
export function openHome(home: string, say: (line: string) => void): void {
  makeFolder(home);
  checkWritable(home);
  const format = readHomeFormat(home);
  makeHomePrivate(home, say);
  if (!format) writeHomeFormat(home);
}

/** Checks a home that is only read; it may be missing. @throws HomeError */
export function checkReadable(home: string): void {
  if (exists(home)) requireAccess(home, home, constants.R_OK | constants.X_OK, 'read');
}

/** Checks that a home can be written, without creating it. @throws HomeError */
export function checkWritable(home: string): void {
  let folder = home;
  while (!exists(folder, home)) folder = dirname(folder);
  requireAccess(home, folder, constants.R_OK | constants.W_OK | constants.X_OK, 'read and written');
}

/**
 * Makes the home (0700) and new files (0600) private: it holds the key of all tokens, and operations' logs and results. Pipeline
 * steps keep the original umask, because they write the user's files.
 */
function makeHomePrivate(home: string, say: (line: string) => void): void {
  const before = process.umask(0o077);
  process.env[UMASK_VARIABLE] ??= before.toString(8).padStart(4, '0');
  const { mode } = statSync(home);
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(home, 0o700);
  } catch (error) {
    say(
      `${home} is open to other users (mode ${(mode & 0o777).toString(8)}) and can't be made private: ` +
        `${(error as Error).message}. They can read its key and its data.`,
    );
  }
}

/** Creates one folder at a time: in /proc, Node.js repeats a recursive `mkdir` forever. */
function makeFolder(folder: string, home = folder): void {
  if (exists(folder, home)) return;
  makeFolder(dirname(folder), home);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw unusable(home, 'that can be made', `${reasonOf(error)} at ${dirname(folder)}`);
  }
}

/** @throws HomeError when the path or a part of it is something else */
function exists(folder: string, home = folder): boolean {
  let found: Stats;
  try {
    found = statSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !isLink(folder)) return false;
    if (code === 'ENOENT')
      throw unusable(home, '', `a link at ${folder} to ${readlinkSync(folder)}, which is not there`);
    // Find the part of the path that causes the error.
    if (folder !== parse(folder).root && (code === 'ENOTDIR' || code === 'EACCES'))
      exists(dirname(folder), home);
    const where = code === 'EACCES' ? dirname(folder) : folder;
    throw unusable(home, '', `${reasonOf(error)} at ${where}`);
  }
  if (found.isDirectory()) return true;
  throw unusable(home, '', `${found.isFile() ? 'a file' : 'something else'} at ${folder}`);
}

/** @param folder the home, or its nearest existing ancestor */
function requireAccess(home: string, folder: string, mode: number, what: string): void {
  try {
    accessSync(folder, mode);
  } catch (error) {
    const { mode: bits, uid } = statSync(folder);
    const facts = `mode ${(bits & 0o777).toString(8).padStart(4, '0')}, owner ${uid}, this user ${process.getuid?.()}`;
    throw unusable(home, `that can be ${what}`, `${reasonOf(error)} at ${folder} (${facts})`);
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

const REASONS: Record<string, string> = {
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'a read-only file system',
  ENOENT: 'a file system without new folders',
  ELOOP: 'links in a circle',
  ENAMETOOLONG: 'a name that is too long',
};

function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? message;
}

function unusable(home: string, expected: string, came: string): HomeError {
  return new HomeError(
    `home ${home}: expected a folder${expected && ` ${expected}`}; got ${came}. Name another folder with --home or LONGHAUL_HOME, or correct this one`,
  );
}

/** Content of `longhaul.version`. */
interface HomeFormat {
  format: number;
  /** Version of the Longhaul that wrote it, for messages. */
  longhaul: string;
}

function writeHomeFormat(home: string): void {
  const { version } = longhaulPackage();
  try {
    writeFileAtomically(
      formatFile(home),
      `${JSON.stringify({ format: FORMAT, longhaul: version } satisfies HomeFormat)}\n`,
    );
  } catch (error) {
    // The next start writes it.
    if (!isDiskFullError(error)) throw error;
  }
}

/** Undefined for a home without a format file. @throws HomeError when it is newer than this Longhaul, or damaged */
export function readHomeFormat(home: string): HomeFormat | undefined {
  const text = readIfThere(formatFile(home))?.toString();
  if (text === undefined) return undefined;
  const known = parsed(text);
  if (!known)
    throw new HomeError(
      `${formatFile(home)}: expected {"format": NUMBER, "longhaul": VERSION}; got ${JSON.stringify(text.slice(0, 80))}. ` +
        `If no newer Longhaul has used ${home}, delete this file`,
    );
  if (known.format <= FORMAT) return known;
  throw new HomeError(
    `home ${home}: expected format ${FORMAT} or lower; got format ${known.format}, written by Longhaul ${known.longhaul}. ` +
      `Run that version or a newer one, or name another folder with --home or LONGHAUL_HOME`,
  );
}

function parsed(text: string): HomeFormat | undefined {
  const value = attempt(() => JSON.parse(text) as Partial<HomeFormat> | null);
  return Number.isInteger(value?.format)
    ? { format: value!.format!, longhaul: String(value!.longhaul) }
    : undefined;
}

function formatFile(home: string): string {
  return join(home, 'longhaul.version');
}
