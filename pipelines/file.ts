/** Pipelines from disk. */
import { readFileSync, statSync } from 'node:fs';
import { problemAtTop, tooLarge, parsePipeline, invalidFile, type ParsedPipeline } from './parse.js';
import { MAX_FILE_BYTES } from './yaml-data.js';

/** Reads and parses a file. An unreadable file gives a problem. */
export function parsePipelineFile(path: string): ParsedPipeline {
  try {
    const found = statSync(path);
    // Reading a pipe or device might block forever.
    if (!found.isFile()) return invalidFile(problemAtTop(path, 'expected a file; got something else'));
    if (found.size > MAX_FILE_BYTES) return invalidFile(tooLarge(path, found.size));
    return parsePipeline(readFileSync(path), path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return invalidFile(problemAtTop(path, REASONS[code] ?? message));
  }
}

const REASONS: Partial<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: "it can't be read: no permission",
};
