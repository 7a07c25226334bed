/** Manifest and layout of a backup. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { longhaulPackage } from '../../platform/home/package.js';
import { StackError } from '../stack-error.js';

/** Increment it when earlier versions can't restore a backup any more. */
const FORMAT = 1;

export const MANIFEST_FILE = 'backup.json';
export const HOME_FOLDER = 'home';

export interface Manifest {
  format: number;
  /** Version of Longhaul. */
  longhaul: string;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** The home that was backed up. */
  home: string;
  /** Version of the server that made the database; missing without a database. */
  temporal?: string;
  /** Whether the backup has the home's key. */
  hasSecret: boolean;
  /** Number of files below {@link HOME_FOLDER}, to detect missing ones. */
  files: number;
  bytes: number;
}

export function newManifest(fields: Omit<Manifest, 'format' | 'longhaul' | 'createdAt'>): Manifest {
  const { version } = longhaulPackage();
  return { format: FORMAT, longhaul: version, createdAt: new Date().toISOString(), ...fields };
}

/** Reads the manifest of an unpacked backup. @throws StackError if there is none, or a newer Longhaul wrote it */
export function readManifest(folder: string, source: string): Manifest {
  const expected = `${source}: expected a backup made by longhaul backup`;
  let manifest: Partial<Manifest> | null;
  try {
    manifest = JSON.parse(readFileSync(join(folder, MANIFEST_FILE), 'utf8')) as Partial<Manifest> | null;
  } catch (error) {
    throw new StackError(`${expected}; its ${MANIFEST_FILE} can't be read: ${(error as Error).message}`);
  }
  if (!Number.isInteger(manifest?.format) || !Number.isInteger(manifest?.files))
    throw new StackError(`${expected}; its ${MANIFEST_FILE} has no format and number of files`);
  if (manifest!.format! > FORMAT)
    throw new StackError(
      `${source}: expected a backup of format ${FORMAT} or lower; got format ${manifest!.format}, made by Longhaul ` +
        `${manifest!.longhaul}. Restore it with that version or a newer one`,
    );
  return manifest as Manifest;
}
