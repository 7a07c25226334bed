import { pbkdf2 } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cancellationSignal, report } from 'longhaul/activity';

/** Hash rounds per file, so that a sync of a few hundred files takes several seconds on a fast machine too. */
const ROUNDS = 60_000;

/** Takes a slow fingerprint of each file; empty ones are skipped. */
export async function syncFiles(path: string, recursive: boolean) {
  const signal = cancellationSignal();
  const from = Date.now();
  const entries = await readdir(path, { recursive, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  let processed = 0;
  let skipped = 0;
  for (const file of files) {
    signal.throwIfAborted();
    const content = await readFile(join(file.parentPath, file.name));
    if (content.length === 0) skipped += 1;
    else await promisify(pbkdf2)(content, 'monitor', ROUNDS, 32, 'sha256');
    processed += content.length === 0 ? 0 : 1;
    const done = processed + skipped;
    report({
      progress: done,
      total: files.length,
      message: `Processing ${done} of ${files.length} files...`,
    });
  }
  return {
    files_processed: processed,
    files_skipped: skipped,
    duration_seconds: (Date.now() - from) / 1000,
  };
}
