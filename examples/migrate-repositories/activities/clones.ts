/** Work in the clones. Each step can be repeated after a kill of the worker. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApplicationFailure } from '@temporalio/activity';
import { cancellationSignal, log, report, saveArtifact } from 'longhaul/activity';
import type { CodemodOrder, CodemodResult } from '../codemod/main.js';
import { alone } from '../lib/alone.js';
import { planOf, type Plan } from '../lib/checks.js';
import { cloneFolder, removeFolder } from '../lib/clone-folder.js';
import { problemOf, run } from '../lib/command.js';
import { git, GitError } from '../lib/git.js';
import type { Change, Repository } from '../workflows/migrate_repository.js';

/** A repository's part of the operation, by its workflow ID. */
type Part = Repository & { id: string };

const CODEMOD = fileURLToPath(new URL('../codemod/run.js', import.meta.url));
const SOURCES = /(?<!\.d|\.min)\.([cm]?[jt]s|[jt]sx)$/;
const MESSAGE = `Replace deprecated APIs of Node.js

new Buffer: Buffer.from and Buffer.alloc; fs.exists: fs.access; util.isString and the like, which Node.js 23 has removed: the language's own tests.`;

/** Clones HEAD. @returns the commands for it, or the problem */
export function cloneRepository(part: Part): Promise<{ plan?: Plan; problem?: string }> {
  return alone(part.id, () => clone(part));
}

/** The clone borrows the objects of the repository, which git only reads for that. */
async function clone({ id, root, head, checks }: Part): Promise<{ plan?: Plan; problem?: string }> {
  const folder = cloneFolder(id);
  await removeFolder(folder);
  await mkdir(dirname(folder), { recursive: true });
  try {
    await git(dirname(folder), 'clone', '--quiet', '--shared', '--no-checkout', root, folder);
    // Commands of the repository can't push to it by accident.
    await git(folder, 'remote', 'remove', 'origin');
    await git(folder, 'checkout', '--quiet', '--detach', head);
    const plan = planOf(folder, checks);
    return plan.checks.length > 0
      ? { plan }
      : { problem: 'no build and no test to check the change with: pass checks' };
  } catch (error) {
    if (error instanceof GitError) return { problem: error.message };
    if (error instanceof SyntaxError) return { problem: `package.json: ${error.message}` };
    throw error;
  }
}

export interface CommandRequest {
  id: string;
  name: string;
  command: string;
  run: 'before' | 'after';
  timeLimitSeconds: number;
}

/** Runs a shell command in the clone. @returns the problem and its output, unless it passes */
export async function runCommand(request: CommandRequest): Promise<{ problem?: string; log?: string }> {
  const { id, name, command, timeLimitSeconds } = request;
  const folder = cloneFolder(id);
  const logPath = join(folder, '.git', 'command.log');
  report({ progress: 0, message: `${name}: ${command}` });
  const shell = ['/bin/sh', '-c', command];
  const outcome = await alone(id, () => runIn(folder, shell, logPath, timeLimitSeconds));
  const problem = problemOf(command, outcome, timeLimitSeconds);
  if (!problem) return {};
  log.warn(`${problem} ${request.run} the change`, { name });
  return { problem, log: (await saveArtifact(logPath, `${name}-${request.run}.log`)).uri };
}

export interface Changed {
  files: number;
  changes: number;
  left: string[];
  diff?: string;
  /** Missing if there is nothing to change. */
  change?: Change;
}

/** Runs the codemod over the files that git tracks, commits in the clone, and saves the diff. */
export function changeFiles(part: Part & { timeLimitSeconds: number }): Promise<Changed> {
  return alone(part.id, () => change(part));
}

async function change(part: Part & { timeLimitSeconds: number }): Promise<Changed> {
  const { id, name, head, branch, author, timeLimitSeconds } = part;
  const folder = cloneFolder(id);
  report({ progress: 0, message: `${name}: the codemod` });
  const own = (file: string) => join(folder, '.git', file);
  // Left by a killed attempt.
  await rm(own('index.lock'), { force: true });
  await git(folder, 'reset', '--quiet', '--hard', head);
  const tracked = (await git(folder, 'ls-files', '--stage', '-z')).split('\0');
  const files = tracked
    .map((line) => /^100\d{3} \S+ 0\t(.*)$/s.exec(line)?.[1] ?? '')
    .filter((file) => SOURCES.test(file) && !/(^|\/)node_modules\//.test(file));
  const order: CodemodOrder = { folder, files, result: own('codemod.json') };
  await writeFile(own('codemod-order.json'), JSON.stringify(order));
  const outcome = await runIn(
    folder,
    [process.execPath, CODEMOD, own('codemod-order.json')],
    own('codemod.log'),
    timeLimitSeconds,
  );
  if (outcome.kind !== 'passed') {
    const { uri } = await saveArtifact(own('codemod.log'), `${name}-codemod.log`);
    throw ApplicationFailure.nonRetryable(
      `${problemOf('the codemod', outcome, timeLimitSeconds)}: ${uri}`,
      'CodemodFailed',
    );
  }
  const result = JSON.parse(await readFile(order.result, 'utf8')) as CodemodResult;
  const facts = { files: result.files.length, changes: result.changes, left: result.left };
  if (result.files.length === 0) return facts;

  const [, person, email] = /^(.*) <(.*)>$/.exec(author)!;
  const config = ['-c', `user.name=${person}`, '-c', `user.email=${email}`, '-c', 'commit.gpgSign=false'];
  await git(folder, 'add', '--', ...result.files);
  await git(folder, ...config, 'commit', '--quiet', '--message', MESSAGE);
  const commit = await git(folder, 'rev-parse', 'HEAD');
  await git(folder, 'branch', '--force', branch, commit);
  await writeFile(
    own('change.diff'),
    `${await git(folder, 'diff', '--no-ext-diff', '--no-color', head, commit)}\n`,
  );
  const { uri } = await saveArtifact(own('change.diff'), `${name}.diff`);
  await git(folder, 'bundle', 'create', '--quiet', own('change.bundle'), `${head}..refs/heads/${branch}`);
  const bundle = await readFile(own('change.bundle'), 'base64');
  return { ...facts, diff: uri, change: { commit, bundle } };
}

export async function removeClone(id: string): Promise<void> {
  await alone(id, () => removeFolder(cloneFolder(id)));
}

function runIn(folder: string, command: string[], logPath: string, timeLimitSeconds: number) {
  return run(command, {
    folder,
    logPath,
    timeLimitMs: timeLimitSeconds * 1000,
    signal: cancellationSignal(),
  });
}
