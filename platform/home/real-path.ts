import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { attempt } from '../../operations/errors.js';

/** Longer chains of links count as a circle, as on Linux. */
const MAX_LINKS = 40;

/** Resolves symbolic links in an absolute path that may not exist yet, even dangling ones: their targets may come later. */
export function realPathOf(path: string, links = MAX_LINKS): string {
  const real = attempt(() => realpathSync.native(path));
  const parent = dirname(path);
  if (real !== undefined || parent === path) return real ?? path;
  const target = links > 0 ? attempt(() => readlinkSync(path)) : undefined;
  return target === undefined
    ? join(realPathOf(parent, links), basename(path))
    : realPathOf(resolve(parent, target), links - 1);
}
