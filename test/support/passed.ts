/** Decides when the whole of a long test is run, by a record in the user's cache of the files with which it passed last. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder } from './install-once.js';

const GENERATED = new Set(['node_modules', '__pycache__', '.longhaul']);

/** A digest over the names and contents of these files and folders, generated folders left out. */
export function digestOf(paths: string[]): string {
  const hash = createHash('sha256');
  for (const file of paths.flatMap(filesOf)) {
    const content = createHash('sha256').update(readFileSync(file)).digest('hex');
    hash.update(`${file} ${content}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => !GENERATED.has(name))
    .toSorted()
    .flatMap((name) => filesOf(join(path, name)));
}

export interface Selection {
  /** Whether everything is to be run. */
  isWhole: boolean;
  /** Records that everything has passed, with the files as they were at its start. */
  recordPass: () => void;
}

/**
 * Everything is run when a variable of the environment is `all`, and when it has not passed with the files as they are now.
 *
 * @param records folder of the records in the user's cache
 * @param touched files and folders that decide how the tests fare
 * @param variable e.g. `LONGHAUL_FOREIGN_CLIENTS`
 */
export function selectExtent(records: string, touched: string[], variable: string): Selection {
  const record = join(cacheFolder(), records, digestOf(touched));
  return {
    isWhole: process.env[variable] === 'all' || !existsSync(record),
    recordPass() {
      mkdirSync(dirname(record), { recursive: true });
      writeFileSync(record, '');
    },
  };
}
