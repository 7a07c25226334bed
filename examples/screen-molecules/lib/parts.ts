/** The folder of an operation's parts of the table, and what becomes of it. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ApplicationFailure } from '@temporalio/activity';

const KEPT_MS = 3 * 24 * 3600_000;
const PLAN = 'plan.json';

/** @param token of an operation */
export function partsFolder(home: string, token: string): string {
  return join(home, 'screen-molecules', encodeURIComponent(token));
}

/** Prefix of the files of one part. */
export function partPath(folder: string, number: number): string {
  return join(folder, String(number).padStart(5, '0'));
}

/**
 * Makes the folder, or takes over that of an earlier run. A second attempt changes nothing.
 *
 * @param plan what both runs must have in common, for the parts to fit
 * @param earlier folder of the earlier run
 */
export async function openParts(folder: string, plan: object, earlier?: string): Promise<void> {
  const text = JSON.stringify(plan);
  if (earlier && !(await readPlan(folder))) {
    const before = await readPlan(earlier);
    if (before !== text) {
      const reason = before ? 'it had another file, or other arguments' : 'it has left no finished chunks';
      throw ApplicationFailure.nonRetryable(`can't continue that run: ${reason}`, 'CannotContinue');
    }
    await rename(earlier, folder);
  }
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, PLAN), text);
}

async function readPlan(folder: string): Promise<string | undefined> {
  return readFile(join(folder, PLAN), 'utf8').catch(() => undefined);
}

/** Removes what failed runs left days ago, and nobody has continued. */
export async function sweepParts(home: string): Promise<void> {
  const root = join(home, 'screen-molecules');
  for (const name of await readdir(root).catch(() => [])) {
    const modified = await stat(join(root, name)).catch(() => undefined);
    if (modified && Date.now() - modified.mtimeMs > KEPT_MS)
      await rm(join(root, name), { recursive: true, force: true });
  }
}

/** Writes parts one after another into one file. @returns its hash, in hexadecimal digits */
export async function joinParts(
  target: string,
  header: string,
  parts: string[],
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256');
  const contents = async function* () {
    yield Buffer.from(header);
    for (const part of parts) yield* createReadStream(part) as AsyncIterable<Buffer>;
  };
  const hashed = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
  await pipeline(contents, hashed, createWriteStream(target), { signal });
  return hash.digest('hex');
}
