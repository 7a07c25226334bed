import { open } from 'node:fs/promises';
import path from 'node:path';
import { beginningOf, contentOf } from './content.js';
import { utf16Of } from './encoding.js';
import type { DatasetFile } from './locate.js';

/** Copies JSON files that are UTF-16, which DuckDB doesn't read. @returns the paths to read */
export async function copyJson(
  file: DatasetFile,
  readPaths: readonly string[],
  scratchFolder: string,
  signal: AbortSignal,
): Promise<{ paths: string[]; notes: string[] }> {
  const paths = [...readPaths];
  const notes: string[] = [];
  for (const [index, one] of file.files.entries()) {
    const { bytes } = await beginningOf(one, 4096, signal);
    const utf16 = utf16Of(bytes);
    if (!utf16) continue;
    notes.push(`${one.name} is read as UTF-16.`);
    paths[index] = path.join(scratchFolder, `copy-${index}.json`);
    const copy = await open(paths[index], 'wx');
    try {
      for await (const chunk of contentOf(one, signal, utf16.encoding)) await copy.appendFile(chunk);
    } finally {
      await copy.close();
    }
  }
  return { paths, notes };
}
