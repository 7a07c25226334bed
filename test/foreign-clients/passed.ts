/** Decides when all clients are driven, by a record in the user's cache of the files with which a whole run passed last. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../support/install-once.js';

/** Files and folders that decide how a foreign client fares. */
const TOUCHED = [
  'mcp-server',
  'operations',
  'engine',
  'tools',
  'workflows',
  'activities',
  'test/fixtures/project',
  'test/foreign-clients',
  'test/support',
  'package-lock.json',
];

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
    .filter((name) => name !== 'node_modules' && name !== '__pycache__')
    .toSorted()
    .flatMap((name) => filesOf(join(path, name)));
}

export interface Selection {
  /** Whether all clients are to be driven. */
  isWhole: boolean;
  /** Records that a whole run has passed, with the files as they were at its start. */
  recordPass: () => void;
}

/**
 * All clients are driven when LONGHAUL_FOREIGN_CLIENTS is `all`, and when no whole run has passed with the files as they
 * are now.
 *
 * @param records folder of the records in the user's cache, one for each file of tests
 */
export function selectClients(records = 'foreign-clients-passed'): Selection {
  const record = join(cacheFolder(), records, digestOf(TOUCHED));
  return {
    isWhole: process.env['LONGHAUL_FOREIGN_CLIENTS'] === 'all' || !existsSync(record),
    recordPass() {
      mkdirSync(dirname(record), { recursive: true });
      writeFileSync(record, '');
    },
  };
}
