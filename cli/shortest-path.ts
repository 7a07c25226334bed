import { relative } from 'node:path';

/** A path as it is seen from the working folder, if it is in there. */
export function shortestPath(path: string): string {
  const seen = relative('', path);
  return seen.startsWith('..') ? path : seen;
}
