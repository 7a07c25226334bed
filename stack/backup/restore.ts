/** `longhaul restore`: makes a home from a backup. It unpacks beside the home, then renames, so a failure leaves the home as it was. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { chmod, cp, mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { temporaryPath } from '../../platform/home/atomic-files.js';
import { contentSize, isDiskFullError } from '../../platform/home/disk.js';
import { readHomeFormat } from '../../platform/home/index.js';
import { quickCheck } from '../temporal/database-check.js';
import { messageOf, StackError, type Say } from '../stack-error.js';
import { stackHolder } from '../stack-lock.js';
import { databasePath } from '../temporal/version.js';
import { HOME_FOLDER, readManifest, type Manifest } from './manifest.js';

/** Default folder of binaries in a home, which backups leave out. */
const BIN = 'bin';
const ENTRY_TYPES = ['File', 'OldFile', 'ContiguousFile', 'Directory', 'SymbolicLink', 'Link'];
/** Retries removal, because a failed extraction may still be writing. */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };

/**
 * Restores a backup.
 *
 * @param isForced whether to replace a home that isn't empty; the old home stays beside the new one
 * @throws StackError if a stack runs on the home, it isn't empty, or the backup can't be used; HomeError
 */
export async function restoreBackup(
  source: string,
  home: string,
  isForced: boolean,
  say: Say,
): Promise<Manifest> {
  const holder = stackHolder(home);
  if (holder)
    throw new StackError(
      `a stack is running on ${home} (PID ${holder.pid}): end it with \`longhaul down\` first`,
    );
  if (!existsSync(source))
    throw new StackError(`${source}: expected a backup; there is no such file or folder`);
  const occupied = contentOf(home);
  if (occupied.length > 0 && !isForced)
    throw new StackError(
      `home ${home}: expected an empty or missing folder; got one with ${occupied.slice(0, 3).join(', ')}. ` +
        'Name another with --home, or replace it with --force',
    );
  const staging = temporaryPath(home);
  try {
    await mkdir(staging, { recursive: true, mode: 0o700 });
    if (statSync(source).isDirectory())
      await cp(source, staging, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    else await unpack(source, staging);
    const manifest = readManifest(staging, source);
    const restored = join(staging, HOME_FOLDER);
    await check(restored, manifest, source);
    await chmod(restored, 0o700);
    const before = await putInPlace(restored, home);
    if (before) say(`The home that was there is now ${before}.`);
    return manifest;
  } catch (error) {
    if (isDiskFullError(error))
      throw new StackError(`the disk of ${dirname(home)} is full: ${home} is as it was`);
    throw error;
  } finally {
    await rm(staging, REMOVAL);
  }
}

/** Names in a home, without the binaries. */
function contentOf(home: string): string[] {
  if (!existsSync(home)) return [];
  if (!statSync(home).isDirectory()) throw new StackError(`home ${home}: expected a folder; got a file`);
  return readdirSync(home).filter((name) => name !== BIN);
}

/** Unpacks an archive, after checking all of it for damage and for entries outside the folder, even through its own links. */
async function unpack(source: string, folder: string): Promise<void> {
  const tar = await import('tar');
  const links = new Set<string>();
  let problem: string | undefined;
  const onReadEntry = ({ path, type }: { path: string; type: string }) => {
    const parts = path.split('/').filter((part) => part && part !== '.');
    const isThroughLink = parts.some((_part, at) => links.has(parts.slice(0, at).join('/')));
    if (isAbsolute(path) || parts.includes('..') || isThroughLink)
      problem ??= `the entry ${JSON.stringify(path)} is outside of it`;
    if (!ENTRY_TYPES.includes(type)) problem ??= `the entry ${JSON.stringify(path)} is a ${type}`;
    if (type === 'SymbolicLink') links.add(parts.join('/'));
  };
  try {
    await tar.list({ file: source, strict: true, onReadEntry });
  } catch (error) {
    problem ??= messageOf(error);
  }
  if (problem !== undefined)
    throw new StackError(
      `${source}: expected a whole backup made by longhaul backup; got another file: ${problem}`,
    );
  // Links in workspaces may be absolute. The check above covers other paths.
  await tar.extract({ file: source, cwd: folder, strict: true, preservePaths: true, preserveOwner: false });
}

async function check(restored: string, manifest: Manifest, source: string): Promise<void> {
  const found = await contentSize(restored);
  if (found.files !== manifest.files || found.bytes !== manifest.bytes)
    throw new StackError(
      `${source}: expected ${manifest.files} files with ${manifest.bytes} bytes; got ${found.files} with ${found.bytes}: it isn't complete`,
    );
  readHomeFormat(restored);
  if (!existsSync(databasePath(restored))) return;
  const problems = await quickCheck(databasePath(restored));
  if (problems.length) throw new StackError(`${source}: its database is damaged: ${problems.join('; ')}`);
}

/** @returns the new place of the earlier home, unless that was missing or empty */
async function putInPlace(restored: string, home: string): Promise<string | undefined> {
  await mkdir(dirname(home), { recursive: true });
  const time = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const before = join(dirname(home), `${basename(home)}.before-restore-${time}`);
  const isThere = existsSync(home);
  const isOccupied = contentOf(home).length > 0;
  try {
    if (isThere) await rename(home, before);
    if (existsSync(join(before, BIN))) await rename(join(before, BIN), join(restored, BIN));
    await rename(restored, home);
  } catch (error) {
    // Undo.
    if (existsSync(before) && !existsSync(home)) {
      if (existsSync(join(restored, BIN))) await rename(join(restored, BIN), join(before, BIN));
      await rename(before, home);
    }
    throw new StackError(
      `home ${home}: expected a folder that can be replaced by another; got ${messageOf(error)}. ` +
        'Restore into a folder below it, and name that with --home',
    );
  }
  if (isOccupied) return before;
  await rm(before, { recursive: true, force: true });
  return undefined;
}
