/** Commands of repositories, which may hang, fork, or be missing: each has a time limit and ends with all its processes. */
import { spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

export type Outcome =
  | { kind: 'passed' }
  | { kind: 'failed'; exitCode: number }
  | { kind: 'killed'; signal: string }
  | { kind: 'missing'; program: string }
  | { kind: 'timed out' };

export interface CommandOptions {
  folder: string;
  /** Takes its output. */
  logPath: string;
  timeLimitMs: number;
  /** Ends the command. */
  signal: AbortSignal;
}

/** Variables that a command gets. Secrets of the worker's environment aren't among them. */
const VARIABLES = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TMPDIR|XDG_\w+|https?_proxy|no_proxy)$/i;

/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 2_000;

/**
 * The group's first process. A reader of descriptor 3 kills the group when the other end closes, so that a command ends with its
 * worker, also by `kill -9`. Both outlive SIGTERM, which is the command's to obey.
 */
const GROUP = `trap : TERM; (trap '' TERM; cat <&3 >/dev/null; kill -KILL 0) & exec 3<&-; "$@"`;

/** Runs a program. Nothing that it leaves in the background outlives it. @throws the signal's reason, once it has ended */
export async function run(command: string[], options: CommandOptions): Promise<Outcome> {
  const { folder, logPath, timeLimitMs, signal } = options;
  signal.throwIfAborted();
  const log = await open(logPath, 'w');
  const child = spawn('/bin/sh', ['-c', GROUP, 'sh', ...command], {
    cwd: folder,
    env: environment(),
    // A process group of its own, by a session of its own.
    detached: true,
    stdio: ['ignore', log.fd, log.fd, 'pipe'],
  });
  const lifeline = child.stdio[3] as Writable;
  lifeline.on('error', () => {});
  const ended = new Promise<{ exitCode: number | null; killedBy: string | null }>((settle, fail) => {
    child.once('error', fail);
    child.once('exit', (exitCode, killedBy) => settle({ exitCode, killedBy }));
  });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeLimitMs)]);
  const stop = () => void terminate(child.pid, ended);
  limit.addEventListener('abort', stop);
  try {
    const { exitCode, killedBy } = await ended;
    signal.throwIfAborted();
    if (limit.aborted) return { kind: 'timed out' };
    if (killedBy !== null) return { kind: 'killed', signal: killedBy };
    if (exitCode === 127) return { kind: 'missing', program: await missingProgram(logPath) };
    return exitCode === 0 ? { kind: 'passed' } : { kind: 'failed', exitCode: exitCode! };
  } finally {
    limit.removeEventListener('abort', stop);
    // The reader keeps the group's number from being another group's by now.
    send(child.pid, 'SIGKILL');
    lifeline.destroy();
    await log.close();
  }
}

/** A sentence for a table; undefined if it passed. */
export function problemOf(command: string, outcome: Outcome, timeLimitSeconds: number): string | undefined {
  switch (outcome.kind) {
    case 'passed':
      return undefined;
    case 'failed':
      return `\`${command}\` fails with exit code ${outcome.exitCode}`;
    case 'killed':
      return `\`${command}\` was ended by ${outcome.signal}`;
    case 'missing':
      return `\`${command}\` needs ${outcome.program}: command not found`;
    case 'timed out':
      return `\`${command}\` took longer than ${timeLimitSeconds} s`;
  }
}

function environment(): Record<string, string | undefined> {
  const own = Object.entries(process.env).filter(([name]) => VARIABLES.test(name));
  return { ...Object.fromEntries(own), CI: 'true' };
}

/** SIGTERM to the group, and after the grace SIGKILL. */
async function terminate(group: number | undefined, ended: Promise<unknown>): Promise<void> {
  send(group, 'SIGTERM');
  const isOver = await Promise.race([ended.then(() => true), delay(GRACE_MS, false, { ref: false })]);
  if (!isOver) send(group, 'SIGKILL');
}

function send(group: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (group !== undefined) process.kill(-group, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Shells name it differently: `sh: 1: tsc: not found`, `bash: tsc: command not found`. */
async function missingProgram(logPath: string): Promise<string> {
  const output = await readFile(logPath, 'utf8');
  return /([^\s:]+): (?:command )?not found/.exec(output)?.[1] ?? 'a program';
}
