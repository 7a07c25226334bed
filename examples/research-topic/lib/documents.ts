/** Reads the documents of a folder, and nothing outside of it: links aren't followed. */
import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { ApplicationFailure } from '@temporalio/activity';
import type { Skipped } from './types.js';

const EXTENSIONS = /\.(md|markdown|mdx|txt|rst)$/i;
const MAX_DOCUMENT_BYTES = 2 * 2 ** 20;
const MAX_DOCUMENTS = 2_000;
const MAX_ALL_CHARACTERS = 32 * 2 ** 20;

export interface Document {
  /** Path within the folder, with `/`. */
  name: string;
  text: string;
}

/**
 * Resolves a caller's folder within the data folders.
 *
 * @param given absolute, or relative to one of the data folders
 * @returns its real path
 * @throws ApplicationFailure, final: FolderNotAllowed, FolderMissing
 */
export async function resolveFolder(given: string, dataFolders: readonly string[]): Promise<string> {
  const allowed = (await Promise.all(dataFolders.map((each) => realpath(each).catch(() => [])))).flat();
  const candidates = path.isAbsolute(given) ? [given] : dataFolders.map((each) => path.resolve(each, given));
  // By its spelling first: whether a folder exists elsewhere isn't the caller's business.
  const inside = candidates.filter((each) => isWithin(path.resolve(each), [...dataFolders, ...allowed]));
  if (inside.length === 0) throw notAllowed(given);
  for (const candidate of inside) {
    const real = await realpath(candidate).catch(() => undefined);
    if (real === undefined) continue;
    if (!isWithin(real, allowed)) throw notAllowed(given);
    if ((await stat(real)).isDirectory()) return real;
  }
  throw ApplicationFailure.nonRetryable(`there is no folder ${JSON.stringify(given)}`, 'FolderMissing');
}

function notAllowed(given: string): ApplicationFailure {
  const message = `${JSON.stringify(given)} isn't in a data folder: set dataFolders in longhaul.config.js`;
  return ApplicationFailure.nonRetryable(message, 'FolderNotAllowed');
}

function isWithin(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => {
    const relative = path.relative(folder, file);
    return relative.split(path.sep)[0] !== '..' && !path.isAbsolute(relative);
  });
}

/** Reads all documents, sorted by name, and lists those that can't be used. */
export async function readDocuments(
  folder: string,
  signal?: AbortSignal,
): Promise<{ documents: Document[]; skipped: Skipped[] }> {
  const documents: Document[] = [];
  const skipped: Skipped[] = [];
  let characters = 0;
  const skip = (document: string, reason: string) => skipped.push({ document, reason });
  const visit = async (within: string): Promise<void> => {
    signal?.throwIfAborted();
    const entries = await readdir(path.join(folder, within), { withFileTypes: true });
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      const name = within === '' ? entry.name : `${within}/${entry.name}`;
      const isHidden = entry.name.startsWith('.') || entry.name === 'node_modules';
      if (isHidden) continue;
      if (entry.isDirectory()) await visit(name);
      else if (entry.isSymbolicLink()) skip(name, await linkReason(folder, name));
      else if (!EXTENSIONS.test(entry.name)) continue;
      else if (/\p{Cc}/u.test(name)) skip(JSON.stringify(name), 'its name has control characters');
      else if (documents.length >= MAX_DOCUMENTS) skip(name, `more than ${MAX_DOCUMENTS} documents`);
      else {
        const read = await readText(folder, name);
        if ('reason' in read) skip(name, read.reason);
        else if ((characters += read.text.length) > MAX_ALL_CHARACTERS)
          skip(name, 'the folder has too much text');
        else documents.push({ name, text: read.text });
      }
    }
  };
  await visit('');
  return { documents, skipped };
}

async function linkReason(folder: string, name: string): Promise<string> {
  const target = await realpath(path.join(folder, name)).catch(() => undefined);
  if (target === undefined) return 'a link to nothing';
  return isWithin(target, [folder]) ? 'a link within the folder' : 'a link that leaves the folder';
}

/** Reads one document. @returns its text, or why it can't be used */
export async function readText(folder: string, name: string): Promise<{ text: string } | { reason: string }> {
  const file = path.join(folder, name);
  // Between the listing and this read, a part of the path may have become a link.
  const real = await realpath(file).catch(() => undefined);
  if (real !== file || !isWithin(file, [folder])) return { reason: 'gone, or a link' };
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const handle = await open(file, flags).catch((error: NodeJS.ErrnoException) => error);
  if (handle instanceof Error) return { reason: `unreadable (${handle.code})` };
  try {
    const { size } = await handle.stat();
    if (size > MAX_DOCUMENT_BYTES) return { reason: `larger than ${MAX_DOCUMENT_BYTES / 2 ** 20} MiB` };
    return decode(await handle.readFile());
  } finally {
    await handle.close();
  }
}

function decode(bytes: Buffer): { text: string } | { reason: string } {
  const mark = bytes.subarray(0, 2).toString('hex');
  if (mark === 'fffe' || mark === 'feff') return { reason: 'UTF-16, not UTF-8' };
  if (bytes.includes(0)) return { reason: 'binary' };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.trim() === '' ? { reason: 'empty' } : { text };
  } catch {
    return { reason: 'not UTF-8' };
  }
}
