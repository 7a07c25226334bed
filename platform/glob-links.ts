/** Symbolic links in tinyglobby. */
import { readdir, type Dirent } from 'node:fs';
import type { GlobOptions } from 'tinyglobby';

/** Options that list symbolic links without following them: callers check the targets. */
export const LINKS_AS_FILES = {
  readdir(
    path: string,
    options: { withFileTypes: true },
    done: (error: unknown, entries?: Dirent[]) => void,
  ) {
    readdir(path, options, (error, entries) => {
      if (error) return done(error);
      for (const entry of entries) if (entry.isSymbolicLink()) showAsFile(entry);
      done(null, entries);
    });
  },
} as unknown as NonNullable<GlobOptions['fs']>;

function showAsFile(entry: Dirent): void {
  entry.isSymbolicLink = () => false;
  entry.isFile = () => true;
}
