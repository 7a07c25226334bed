import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ApplicationFailure, cancellationSignal } from '@temporalio/activity';

const execute = promisify(execFile);

const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  XDG_CONFIG_HOME: process.env.XDG_CONFIG_HOME,
  // Otherwise git status refreshes the index of the repository that it reads.
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
};

/** Git has refused, with its message. */
export class GitError extends Error {
  override name = 'GitError';

  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}

/**
 * Runs git in a folder.
 *
 * @returns its output without the last line end
 * @throws GitError
 */
export async function git(folder: string, ...args: string[]): Promise<string> {
  const options = { env: ENVIRONMENT, maxBuffer: 256 * 2 ** 20, signal: cancellationSignal() };
  try {
    // Hooks belong to the people who work in a repository.
    const { stdout } = await execute(
      'git',
      ['-c', 'core.hooksPath=/dev/null', '-C', folder, ...args],
      options,
    );
    return stdout.replace(/\n$/, '');
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT') throw ApplicationFailure.nonRetryable('git: command not found', 'GitMissing');
    if (typeof code !== 'number') throw error;
    const message = (stderr ?? '').trim().split('\n')[0] || `git ${args[0]} failed`;
    throw new GitError(message.replace(/^(fatal|error): /, ''), code);
  }
}

/** Like `git`. @returns undefined if git refuses, as for a missing setting or reference */
export async function gitOrNothing(folder: string, ...args: string[]): Promise<string | undefined> {
  return git(folder, ...args).catch((error: unknown) => {
    if (error instanceof GitError) return undefined;
    throw error;
  });
}
