/** Reads and writes of the repositories themselves. Before the approval, they are only read. */
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { log, workerSettings } from 'longhaul/activity';
import { git, GitError, gitOrNothing } from '../lib/git.js';
import { count, type Row } from '../lib/states.js';

export interface Inspected {
  row: Row;
  /** Missing for a repository that is skipped. */
  source?: { root: string; head: string; author: string };
}

interface Request {
  paths: string[];
  branch: string;
  author?: string;
}

/** Decides for each path whether it can be migrated; a repository that is listed twice is migrated once. */
export async function inspectRepositories({ paths, branch, author }: Request): Promise<Inspected[]> {
  const known = new Map<string, string>();
  const names = new Set<string>();
  const found: Inspected[] = [];
  for (const path of paths) {
    const name = uniqueName(path, names);
    const skip = (reason: string) => found.push({ row: { name, path, state: 'skipped', reason } });
    try {
      const { store, note, ...source } = await inspect(
        resolve(workerSettings().project, path),
        branch,
        author,
      );
      const first = known.get(store);
      if (first !== undefined) {
        skip(`the same repository as ${first}`);
        continue;
      }
      known.set(store, name);
      found.push({ row: { name, path, state: 'waiting', ...(note && { note }) }, source });
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      skip(error.message);
    }
  }
  return found;
}

/** @throws GitError with the reason why it can't be migrated */
async function inspect(path: string, branch: string, author: string | undefined) {
  const refuse = (reason: string): never => {
    throw new GitError(reason, 1);
  };
  const root = await git(path, 'rev-parse', '--show-toplevel');
  if (root !== (await realpath(path))) refuse(`a folder inside of the repository ${root}`);
  const store = await realpath(resolve(root, await git(root, 'rev-parse', '--git-common-dir')));
  const head =
    (await gitOrNothing(root, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}')) ??
    refuse('it has no commits');
  if ((await gitOrNothing(root, 'check-ref-format', '--branch', branch)) === undefined)
    refuse(`${branch} can't be the name of a branch`);
  if ((await gitOrNothing(root, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`)) !== undefined)
    refuse(`it has a branch ${branch} already`);
  const changed = (await git(root, 'status', '--porcelain')).split('\n').filter(Boolean).length;
  const note = changed > 0 ? `${count(changed, 'uncommitted file')} left alone: HEAD is migrated` : undefined;
  return { root, store, head, note, author: author ?? (await authorOf(root)) ?? refuse(NO_AUTHOR) };
}

const NO_AUTHOR = 'git has no author for it: set user.name and user.email, or pass author';

/** Author by the repository's config, then the user's. @returns undefined on a machine without one */
async function authorOf(root: string): Promise<string | undefined> {
  const [name, email] = await Promise.all(
    ['user.name', 'user.email'].map((key) => gitOrNothing(root, 'config', '--get', key)),
  );
  return name && email ? `${name} <${email}>` : undefined;
}

/** Name of the folder, with characters that fit into workflow IDs and file names. */
function uniqueName(path: string, taken: Set<string>): string {
  const base = basename(resolve(path)).replace(/[^\w-]+/g, '-') || 'repository';
  let name = base;
  for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}`;
  taken.add(name);
  return name;
}

interface BranchRequest {
  root: string;
  branch: string;
  commit: string;
  /** Git bundle, base64. */
  bundle: string;
}

/** Creates the branch, without touching anything else: neither HEAD nor index, working tree and config. */
export async function createBranch({
  root,
  branch,
  commit,
  bundle,
}: BranchRequest): Promise<{ problem?: string }> {
  const ref = `refs/heads/${branch}`;
  const folder = await mkdtemp(join(tmpdir(), 'migrate-bundle-'));
  try {
    const path = join(folder, 'change.bundle');
    await writeFile(path, bundle, 'base64');
    const existing = await gitOrNothing(root, 'rev-parse', '--verify', '--quiet', ref);
    // Created by an attempt whose worker was killed.
    if (existing === commit) return {};
    if (existing !== undefined) return { problem: `a branch ${branch} has been created meanwhile` };
    await git(root, 'bundle', 'unbundle', path);
    // The empty old value: only if there is no such branch.
    await git(root, 'update-ref', '-m', 'branch: created by migrate_repositories', ref, commit, '');
    log.info('branch created', { root, branch, commit });
    return {};
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return { problem: error.message };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes a branch of {@link createBranch}, unless somebody has committed to it. */
export async function removeBranch({ root, branch, commit }: Omit<BranchRequest, 'bundle'>): Promise<void> {
  await gitOrNothing(root, 'update-ref', '-d', `refs/heads/${branch}`, commit);
}
