/** Copies of JSON files in UTF-8. */
import { open } from 'node:fs/promises';
import { readHead, contentOf } from './content.js';
import { utf16Of } from './encoding.js';
import type { LocatedFile } from './locate.js';

/**
 * Copies a file in UTF-16, which DuckDB doesn't read.
 *
 * @param target path of the copy
 * @returns notes; undefined if no copy is needed
 * @throws DatasetError unreadable
 */
export async function copyJson(file: LocatedFile, target: string): Promise<string[] | undefined> {
  const { bytes } = await readHead(file, 4096);
  const utf16 = utf16Of(bytes);
  if (!utf16) return undefined;
  const copy = await open(target, 'wx');
  try {
    for await (const chunk of contentOf(file, utf16.encoding)) await copy.appendFile(chunk);
  } finally {
    await copy.close();
  }
  return [`${file.name} is read as UTF-16.`];
}
