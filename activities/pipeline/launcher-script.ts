/**
 * The scripts that a step runs under, `launcher.sh` and `relay.sh`. Each run has copies, because bash reads a script while it
 * runs and an upgrade replaces these files.
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CODE_ROOT } from '../../platform/project.js';

export const LAUNCHER_FILE = 'launcher.sh';

/** The first file that a launcher makes. */
export const FIRST_LAUNCHER_FILE = 'how';

/** Where the launcher reserves the space of `exit.json`, and writes it. A killed launcher leaves it. */
export const EXIT_RESERVE_FILE = 'exit.tmp';

/** Descriptor that the launcher, and no other process, keeps open on its first file for all its life. */
export const LAUNCHER_DESCRIPTOR = 6;

const SCRIPTS = [LAUNCHER_FILE, 'relay.sh'] as const;

let texts: string[] | undefined;

export async function writeScripts(folder: string): Promise<void> {
  texts ??= SCRIPTS.map((name) => readFileSync(join(CODE_ROOT, 'activities/pipeline', name), 'utf8'));
  for (const [at, name] of SCRIPTS.entries()) await writeFile(join(folder, name), texts[at]!);
}
