/** Writes drafts to a folder: one file for each workflow type. */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isToolFile, parseToolFile } from '../../external-workflows/parse.js';
import { EXIT } from '../client/exit-codes.js';
import { CommandFailure } from '../failure.js';

export interface ExistingFile {
  file: string;
  /** Undefined if it can't be parsed. */
  name?: string;
  type?: string;
}

/** Files of tools in a folder, which may be missing. */
export function existingFiles(folder: string): ExistingFile[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder)
    .filter((name) => /\.ya?ml$/i.test(name))
    .sort()
    .map((name) => {
      const file = join(folder, name);
      const tool = isToolFile(file) ? parseToolFile(file).value : undefined;
      return { file, ...(tool && 'name' in tool ? { name: tool.name, type: tool.workflow } : {}) };
    });
}

/** Writes a file. @returns whether it was written. @throws CommandFailure if the folder can't be written */
export function writeDraft(path: string, folder: string, text: string, replaces: boolean): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    if (!replaces && existsSync(path)) return false;
    // Don't overwrite a file that was made meanwhile, either.
    writeFileSync(path, text, { flag: replaces ? 'w' : 'wx' });
    return true;
  } catch (error) {
    throw new CommandFailure(
      `--output: expected a folder that can be written; ${(error as Error).message}`,
      EXIT.usage,
    );
  }
}
