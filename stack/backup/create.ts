/**
 * `longhaul backup`: a consistent copy of a home, even while its stack runs. The database may name values only after storage has
 * them, and sweeps remove values at any time: so link storage, copy the database, then link what is new. Copy workspaces and
 * journals last, because a journal has the outcome of a step that the database still calls running.
 */
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { isTemporaryPath, temporaryPath } from '../../platform/home/atomic-files.js';
import { contentSize, isDiskFullError } from '../../platform/home/disk.js';
import { copyDatabase } from '../temporal/database-snapshot.js';
import { quickCheck } from '../temporal/database-check.js';
import { StackError, type Say } from '../stack-error.js';
import { databaseMadeBy, databasePath } from '../temporal/version.js';
import { copyTree, linkTree } from './copy-tree.js';
import { HOME_FOLDER, MANIFEST_FILE, newManifest, type Manifest } from './manifest.js';

/** Entries that belong to the running stack, or are recreated. */
const LEFT_OUT = /^(stack\.json|stack\.lock.*|temporal\.db.*|logs|storage)$/;
/** Workspaces that a sweep is removing. */
const BEING_REMOVED = /^workspaces\/\.removed-/;

/**
 * Backs up a home.
 *
 * @param target an archive if the name ends with `.gz` or `.tgz`, else a folder; must not exist
 * @param binFolder excluded if it is in the home
 * @throws StackError if the home is empty, the target exists or is in the home, the database is damaged, or space is short
 */
export async function createBackup(
  { home, binFolder }: { home: string; binFolder: string },
  target: string,
  say: Say,
): Promise<Manifest> {
  const path = resolve(target);
  assertUsable(home, target, path);
  const staging = temporaryPath(join(home, 'backup'));
  const unfinished = temporaryPath(path);
  try {
    const manifest = await stage(home, resolve(binFolder), staging, say);
    await mkdir(dirname(path), { recursive: true });
    if (isArchive(target)) await writeArchive(staging, unfinished);
    else await cp(staging, unfinished, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    if (existsSync(path)) throw new StackError(`${target}: something else has made it meanwhile`);
    await rename(unfinished, path);
    return manifest;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (isDiskFullError(error))
      throw new StackError(`the disk of ${dirname(path)} or of ${home} is full: there is no backup`);
    if ((error as Error).name === 'DamagedDatabase')
      throw new StackError(`${databasePath(home)}: ${(error as Error).message}: there is no backup`);
    throw error;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

export function isArchive(target: string): boolean {
  return /\.(gz|tgz)$/.test(target);
}

function assertUsable(home: string, target: string, path: string): void {
  if (!existsSync(join(home, 'longhaul.version')) && !existsSync(databasePath(home)))
    throw new StackError(`home ${home}: expected one that a stack has used; got nothing to back up`);
  if (existsSync(path))
    throw new StackError(`${target}: expected a new name; got one that exists: remove it, or name another`);
  if (isWithin(home, path))
    throw new StackError(
      `${target}: expected a place outside the home ${home}, or a backup would hold the ones before`,
    );
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`));
}

async function stage(home: string, binFolder: string, staging: string, say: Say): Promise<Manifest> {
  const copy = join(staging, HOME_FOLDER);
  await mkdir(copy, { recursive: true, mode: 0o700 });
  const linkStorage = () => linkTree(join(home, 'storage'), join(copy, 'storage'));
  await linkStorage();
  const hasDatabase = existsSync(databasePath(home));
  if (hasDatabase) await copyDatabase(databasePath(home), databasePath(copy));
  await linkStorage();
  const isExcluded = (path: string) =>
    LEFT_OUT.test(path) ||
    BEING_REMOVED.test(path) ||
    (!path.startsWith('workspaces') && isTemporaryPath(path)) ||
    isWithin(binFolder, join(home, path));
  await copyTree(home, copy, isExcluded);
  // Step logs must have at least the output that the journals count.
  await linkStorage();
  if (hasDatabase) {
    await chmod(databasePath(copy), 0o600);
    const problems = await quickCheck(databasePath(copy));
    if (problems.length)
      throw new StackError(`${databasePath(home)} is damaged, so there is no backup: ${problems.join('; ')}`);
  } else say('The home has no database: back up the named Temporal with its own tools.');
  const temporal = hasDatabase ? databaseMadeBy(home)?.server : undefined;
  const manifest = newManifest({
    home,
    temporal,
    hasSecret: existsSync(join(copy, 'secret')),
    ...(await contentSize(copy)),
  });
  await writeFile(join(staging, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  return manifest;
}

async function writeArchive(staging: string, path: string): Promise<void> {
  const tar = await import('tar');
  const file = await open(path, 'wx', 0o600);
  try {
    const archive = tar.create({ gzip: true, cwd: staging, strict: true }, [MANIFEST_FILE, HOME_FOLDER]);
    for await (const chunk of archive as unknown as AsyncIterable<Buffer>) await file.write(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function backupBytes(target: string): Promise<number> {
  return (await contentSize(target)).bytes;
}
