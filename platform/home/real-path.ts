import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Longer chains of links count as a circle, as on Linux. */
const MAX_LINKS = 40;

/** Resolves symbolic links in an absolute path that may not exist yet, even dangling ones: their targets may come later. */
export function realPathOf(path: string, links = MAX_LINKS): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    if (parent === path) return path;
    const target = links > 0 ? linkTarget(path) : undefined;
    return target === undefined
      ? join(realPathOf(parent, links), basename(path))
      : realPathOf(resolve(parent, target), links - 1);
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
