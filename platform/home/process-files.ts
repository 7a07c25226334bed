/** Files of running processes in a folder of the home. A killed process leaves its file to the next one. */
import { randomUUID } from 'node:crypto';
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../../operations/errors.js';
import { encodeFileName } from './file-name.js';
import { processIdentity } from './process-identity.js';

/** Process ID and start time, and a random ID. */
const NAME = /^(\d+)\.([^.]+)\.[0-9a-f-]+$/;

/** Path for a new file of this process. */
export function newProcessFile(folder: string): string {
  return join(folder, `${process.pid}.${startOf(process.pid)}.${randomUUID()}`);
}

/** Takes over the files of processes that have ended: of several callers, one gets a file. @returns their new paths */
export function takeOverProcessFiles(folder: string): string[] {
  // The folder may not exist yet.
  const names = attempt(() => readdirSync(folder)) ?? [];
  return names.flatMap((name) => {
    const [, pid, startedAt] = NAME.exec(name) ?? [];
    if (pid === undefined || startedAt === startOf(Number(pid))) return [];
    const path = newProcessFile(folder);
    try {
      renameSync(join(folder, name), path);
      return [path];
    } catch {
      return [];
    }
  });
}

function startOf(pid: number): string | undefined {
  const startedAt = processIdentity(pid)?.startedAt;
  return startedAt === undefined ? undefined : encodeFileName(startedAt).replaceAll('.', '%2E');
}
