import { relative } from 'node:path';

/** A path relative to the working folder, if it is within it. */
export function shortestPath(path: string): string {
  const seen = relative('', path);
  return seen.startsWith('..') ? path : seen;
}
