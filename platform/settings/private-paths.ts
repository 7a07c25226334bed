/** Longhaul's files and folders that callers must not read, and their overlaps with data folders, which callers may read. */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { attempt } from '../../operations/errors.js';
import type { Settings } from './table.js';
import type { DataFolders } from '../storage/data-folders.js';
import { realPathOf } from '../home/real-path.js';
import { secretFilesOf } from './token-sources.js';

const PRIVATE = ['home', 'storage', 'keysFolder', 'auditLog', 'tlsKey', 'tokenSources'] as const;

interface PrivatePath {
  name: (typeof PRIVATE)[number];
  path: string;
}

/** The data folders, with the private paths in them. @throws SettingsError for token sources that can't be read */
export function dataFoldersOf(settings: Settings): DataFolders {
  return { folders: settings.dataFolders, privatePaths: privatePathsOf(settings).map(({ path }) => path) };
}

function privatePathsOf(settings: Settings): PrivatePath[] {
  const storage = settings.storage === 'folder' ? join(settings.home, 'storage') : undefined;
  const { tokenSources: sources } = settings;
  // The file itself names secrets and has none.
  const paths = { ...settings, storage, tokenSources: sources && secretFilesOf(sources) };
  return PRIVATE.flatMap((name) => [paths[name] ?? []].flat().map((path) => ({ name, path })));
}

/** A data folder and a private path, one within the other. */
export interface Overlap {
  dataFolder: string;
  privatePath: PrivatePath;
  /** Whether the data folder contains the private path. Otherwise it is within the private path, or the same folder. */
  isAround: boolean;
}

/**
 * Data folders that overlap with private paths, each with the first such path. The project folder doesn't count: it often
 * contains the home, and callers can't read private paths there.
 */
export function overlapsOf(settings: Settings): Overlap[] {
  const project = realPathOf(settings.project);
  const privatePaths = privatePathsOf(settings).map((privatePath) => ({
    privatePath,
    real: realPathOf(privatePath.path),
  }));
  return settings.dataFolders.flatMap((dataFolder) => {
    const folder = realPathOf(dataFolder);
    if (isSame(folder, project)) return [];
    const within = privatePaths.find(({ real }) => isWithin(folder, real));
    const around = privatePaths.find(({ real }) => isWithin(real, folder));
    const found = within ?? around;
    return found ? [{ dataFolder, privatePath: found.privatePath, isAround: !within }] : [];
  });
}

function isWithin(path: string, folder: string): boolean {
  if (isSame(path, folder)) return true;
  return path !== dirname(path) && isWithin(dirname(path), folder);
}

/** Whether two paths lead to the same file, even through a bind mount. Compares missing paths without case and Unicode form. */
function isSame(one: string, other: string): boolean {
  if (one === other) return true;
  const [first, second] = [identityOf(one), identityOf(other)];
  if (first !== undefined || second !== undefined) return first === second;
  const [name, otherName] = [one, other].map((path) => path.normalize().toLowerCase());
  return name === otherName;
}

function identityOf(path: string): string | undefined {
  const found = attempt(() => statSync(path, { bigint: true }));
  return found && `${found.dev}:${found.ino}`;
}
