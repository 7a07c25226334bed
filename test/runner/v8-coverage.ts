/** Functions of the sources that a process has called, from its V8 coverage and the source maps of the built program. */
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The part of a file in NODE_V8_COVERAGE that is read. */
export interface ProcessCoverage {
  result: {
    url: string;
    functions: { functionName: string; ranges: { startOffset: number; count: number }[] }[];
  }[];
}

interface Built {
  map: SourceMap;
  /** Offsets at which lines begin. */
  lines: number[];
}

const known = new Map<string, Built | undefined>();

/** A built file and its map; undefined for a file without one. */
function built(path: string): Built | undefined {
  if (!known.has(path)) {
    const isMapped = existsSync(path) && existsSync(`${path}.map`);
    known.set(path, isMapped ? read(path) : undefined);
  }
  return known.get(path);
}

function read(path: string): Built {
  const lines = [0];
  const text = readFileSync(path, 'utf8');
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.push(at + 1);
  const map = JSON.parse(readFileSync(`${path}.map`, 'utf8')) as ConstructorParameters<typeof SourceMap>[0];
  return { map: new SourceMap(map), lines };
}

/** Index of the last line that begins at an offset or before it. */
function lineAt(lines: readonly number[], offset: number): number {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (lines[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Functions of the root's sources that have been called, as `engine/list/index.ts:12 listOperations`. Modules that were only loaded don't
 * count.
 */
export function* calledFunctions({ result }: ProcessCoverage, root = process.cwd()): Generator<string> {
  for (const { url, functions } of result) {
    if (!url.startsWith('file:')) continue;
    const path = fileURLToPath(url);
    const file = path.startsWith(resolve(root, 'dist')) ? built(path) : undefined;
    if (!file) continue;
    for (const { functionName, ranges } of functions) {
      const { startOffset, count } = ranges[0]!;
      if (count === 0 || startOffset === 0) continue;
      const line = lineAt(file.lines, startOffset);
      const entry = file.map.findEntry(line, startOffset - file.lines[line]!);
      if (!('originalSource' in entry)) continue;
      const source = relative(root, resolve(dirname(path), entry.originalSource));
      if (!source.startsWith('..'))
        yield `${source}:${entry.originalLine + 1} ${functionName || 'anonymous'}`;
    }
  }
}
