/** Content of a backup: its manifest, and where what is in it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { longhaulPackage } from '../../platform/package.js';
import { StackError } from '../stack-error.js';

/** Incremented by a version whose backups earlier versions can't restore. */
const FORMAT = 1;

export const MANIFEST_FILE = 'backup.json';
/** Folder with the home's content. */
export const HOME_FOLDER = 'home';

export interface Manifest {
  format: number;
  /** Version of the Longhaul that made it. */
  longhaul: string;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** The home that it was made of. */
  home: string;
  /** Version of the server that made the database in it; missing if it has none. */
  temporal?: string;
  /** Whether it has the home's key. */
  hasSecret: boolean;
  /** Files below {@link HOME_FOLDER}, to notice missing ones. */
  files: number;
  bytes: number;
}

export function newManifest(fields: Omit<Manifest, 'format' | 'longhaul' | 'createdAt'>): Manifest {
  const { version } = longhaulPackage();
  return { format: FORMAT, longhaul: version, createdAt: new Date().toISOString(), ...fields };
}

/**
 * Reads the manifest of an unpacked backup.
 *
 * @param source name of the backup, for messages
 * @throws StackError if there is none, or a newer Longhaul has written it
 */
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
