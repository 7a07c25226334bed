/** Logs of steps and operations, as text. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChunkedLog } from '../../platform/storage/chunked-log.js';
import { stepLogPrefix } from '../../platform/storage/keys.js';
import type { Storage } from '../../platform/storage/index.js';

/** Reads a log; empty for a missing one. */
export async function logText(storage: Storage, prefix: string): Promise<string> {
  const log = new ChunkedLog(storage, prefix);
  return (await log.read({ from: 0, lengthBytes: (await log.size()) ?? 0 })).toString();
}

/** Reads a step's log from the files of a home, also while it grows; empty for a missing one. */
export function stepLogText(home: string, workflowId: string, child: string, step: number): string {
  const folder = join(home, 'storage', stepLogPrefix(workflowId, child, step));
  for (;;) {
    try {
      return existsSync(folder) ? chunksIn(folder) : '';
    } catch (error) {
      // Chunks were merged meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

function chunksIn(folder: string): string {
  const chunks = readdirSync(folder)
    .filter((name) => /^\d+(-\d+)?$/.test(name))
    .map((name) => {
      const [offset, end = 0] = name.split('-').map(Number);
      return { name, offset: offset!, end };
    });
  const pieces: Buffer[] = [];
  let bytes = 0;
  // A merged chunk comes before those that it replaces.
  for (const { name, offset } of chunks.sort((a, b) => a.offset - b.offset || b.end - a.end)) {
    if (offset !== bytes) continue;
    pieces.push(readFileSync(join(folder, name)));
    bytes += pieces.at(-1)!.length;
  }
  return Buffer.concat(pieces).toString();
}
