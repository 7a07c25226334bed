/** Files of a project, without those that are generated or installed. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const SKIPPED = new Set(['node_modules', 'target', 'venv', 'vendor', 'dist', 'build', '__pycache__']);

/** Files beyond this number aren't looked at. */
const MOST_FILES = 50_000;

/** Paths relative to the folder, sorted. Links aren't followed. */
export async function filesUnder(folder: string): Promise<string[]> {
  const files: string[] = [];
  const folders = [''];
  for (let at = folders.pop(); at !== undefined && files.length < MOST_FILES; at = folders.pop()) {
    const entries = await readdir(join(folder, at), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isFile()) files.push(path);
      else if (entry.isDirectory() && !entry.name.startsWith('.') && !SKIPPED.has(entry.name))
        folders.push(path);
    }
  }
  return files.sort();
}

/** Text of a file; empty when it can't be read. */
export const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
