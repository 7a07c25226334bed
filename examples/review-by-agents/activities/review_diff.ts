import { readdir, readFile, stat } from 'node:fs/promises';
import { ApplicationFailure } from '@temporalio/activity';
import { cancellationSignal, report, workerSettings } from 'longhaul/activity';
import { DiffError, parseDiff, type ParsedFile } from '../lib/diff.js';
import { allowedPath, fileIn } from '../lib/folder.js';
import { hygiene, isTest } from '../lib/hygiene.js';
import { isCode, lint } from '../lib/lint.js';
import type { Aspect, ChangedFile, Finding, Skipped } from '../lib/review.js';
import { checkTypes, isTyped } from '../lib/types.js';

const FILES_LIMIT = 1_000;
const DIFF_LIMIT_BYTES = 16 * 2 ** 20;

/** Mistakes of the caller are final: a retry can't succeed. */
const refuse = (type: string, message: string) => ApplicationFailure.nonRetryable(message, type);

/** The files to check, and those that can't be. */
export async function readDiff(
  folder: string,
  diff: string,
): Promise<{ files: ChangedFile[]; skipped: Skipped[] }> {
  const root = await allowed(folder);
  const text = await readFile(await allowed(diff), 'utf8').catch((error: Error) => {
    throw refuse('PathUnreadable', `${diff} can't be read: ${error.message}`);
  });
  if (text.length > DIFF_LIMIT_BYTES) throw refuse('DiffTooLarge', `${diff} has more than 16 MiB`);
  const parsed = parse(text);
  if (parsed.length > FILES_LIMIT)
    throw refuse('DiffTooLarge', `the diff has ${parsed.length} files; at most ${FILES_LIMIT} are checked`);
  const files: ChangedFile[] = [];
  const skipped: Skipped[] = [];
  for (const { lines, at: _at, ...file } of parsed) {
    if (file.status === 'deleted') skipped.push({ file: file.path, reason: 'deleted' });
    else if (file.isBinary) skipped.push({ file: file.path, reason: 'binary' });
    else if (await isFolder(root, file.path)) skipped.push({ file: file.path, reason: 'a submodule' });
    else {
      await assertFits(root, file, lines);
      files.push(file);
    }
  }
  return { files, skipped };
}

/** Findings of one aspect in these files. */
export async function checkFiles(folder: string, aspect: Aspect, files: ChangedFile[]): Promise<Finding[]> {
  const root = await allowed(folder);
  let checked = 0;
  const count = (path: string) => {
    cancellationSignal().throwIfAborted();
    report({ progress: (checked += 1), total: files.length, message: path });
  };
  const findings: Finding[] = [];
  if (aspect === 'types') {
    const typed = files.filter(({ path }) => isTyped(path));
    if (typed.length > 0) findings.push(...(await checkTypes(root, typed, count)));
    report({ progress: files.length, total: files.length });
    return findings;
  }
  const tests = aspect === 'hygiene' ? await testsOf(root) : [];
  for (const file of files) {
    const path = await fileIn(root, file.path, workerSettings().home);
    if (path && aspect === 'hygiene') findings.push(...hygiene(file, await readFile(path, 'utf8'), tests));
    if (path && aspect === 'lint' && isCode(path)) findings.push(...lint(file, await readFile(path, 'utf8')));
    count(file.path);
    await new Promise(setImmediate);
  }
  return findings;
}

async function allowed(path: string): Promise<string> {
  const real = await allowedPath(workerSettings(), path).catch((error: Error) => {
    throw refuse('PathUnreadable', `${path} can't be read: ${error.message}`);
  });
  if (real === undefined) throw refuse('PathNotAllowed', `${path} is outside of the data folders`);
  return real;
}

function parse(text: string): ParsedFile[] {
  try {
    return parseDiff(text);
  } catch (error) {
    if (error instanceof DiffError) throw refuse('BadDiff', error.message);
    throw error;
  }
}

/** A submodule is a line in the diff and a folder in the checkout. */
async function isFolder(root: string, path: string): Promise<boolean> {
  const real = await fileIn(root, path, workerSettings().home);
  return real !== undefined && (await stat(real)).isDirectory();
}

/** Line numbers mean nothing in another state of the files. */
async function assertFits(root: string, { path }: ChangedFile, lines: Map<number, string>): Promise<void> {
  const real = await fileIn(root, path, workerSettings().home);
  if (real === undefined) throw refuse('DiffDoesNotFit', `${path} of the diff is not in the folder`);
  const have = (await readFile(real, 'utf8')).split('\n');
  for (const [number, line] of lines)
    if (have[number - 1] !== line)
      throw refuse(
        'DiffDoesNotFit',
        `line ${number} of ${path} is not as in the diff: expected the state after it`,
      );
}

async function testsOf(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true });
  return entries.filter((path) => !path.includes('node_modules') && isTest(path));
}
