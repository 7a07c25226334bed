/**
 * Files that are written under another name first and renamed once they are whole. A process that is killed in between
 * leaves such a file behind; workers remove those.
 */
import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const UNFINISHED = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/** How long nothing was written to a file that counts as left behind, in milliseconds: a day. */
export const ABANDONED_AFTER_MS = 24 * 3600_000;

/** Where a file is written until it is whole. */
export function temporaryPath(path: string): string {
  return `${path}.${randomUUID()}.tmp`;
}

/** Writes a file that appears whole, whoever else writes it at the same time. */
export function writeFileAtomically(path: string, text: string): void {
  const unfinished = temporaryPath(path);
  try {
    writeFileSync(unfinished, text);
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** Is this the path of a file that isn't whole? */
export function isTemporaryPath(path: string): boolean {
  return UNFINISHED.test(path);
}

/**
 * Removes the files in a home that killed processes left unfinished. Workspaces, where steps have files of any name, are
 * left alone: each is removed as a whole.
 *
 * @returns how many there were
 */
export async function removeTemporaryFiles(home: string, now = Date.now()): Promise<number> {
  // Loaded by the one who needs it: whoever only writes a file starts without it.
  const { glob } = await import('tinyglobby');
  const paths = await glob('**/*.tmp', {
    cwd: home,
    dot: true,
    ignore: ['workspaces/**'],
    followSymbolicLinks: false,
  });
  const left: string[] = [];
  for (const path of paths.filter(isTemporaryPath).map((path) => join(home, path))) {
    const file = await stat(path).catch(() => undefined);
    if (file && now - file.mtimeMs > ABANDONED_AFTER_MS) left.push(path);
  }
  await Promise.all(left.map((path) => rm(path, { force: true })));
  return left.length;
}
