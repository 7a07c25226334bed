/**
 * Starts Longhaul's own processes of the stack: the worker and the MCP server. Their standard input is a pipe from this process;
 * they end when it closes, so that they can't outlive the stack.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { constants, setPriority } from 'node:os';
import type { Readable } from 'node:stream';
import { PROGRAM_PATH } from '../platform/program.js';
import { describeExit, type Exit } from './launcher.js';
import { READY_MESSAGE } from './foreground.js';
import { LogFile } from './log-files.js';
import type { RunningProcess } from './keep-running.js';
import { messageOf, type Say } from './stack-error.js';

/** Least severe pino level that is shown on the console. */
const WARN = 40;

export type Part = 'worker' | 'server';

/** Whether a command line is that of a part of this home's stack: the home is among its arguments for this purpose. */
export function isPartOf(home: string, part: Part, commandLine: string): boolean {
  return `${commandLine} `.includes(` ${part} --home ${home} `);
}

/**
 * Starts a part. Its log is `LONGHAUL_HOME/logs/<part>.log`; warnings and errors are also passed to `say`.
 */
export function startPart(
  part: Part,
  home: string,
  environment: NodeJS.ProcessEnv,
  say: Say,
): RunningProcess & { pid: number | undefined } {
  const child = spawn(process.execPath, [PROGRAM_PATH, part, '--home', home], {
    env: environment,
    // The part sends READY_MESSAGE over the IPC channel.
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    // In a session of its own, a terminal's Ctrl-C doesn't reach the part and its activities' processes before the supervisor
    // drains it.
    detached: true,
  });
  if (part === 'worker') lowerPriority(child.pid);
  const { stdin, stdout, stderr } = child as ChildProcessWithoutNullStreams;
  stdin.on('error', () => undefined);
  let isReady = false;
  child.on('message', (message) => (isReady ||= message === READY_MESSAGE));
  const log = new LogFile(home, part);
  const take = (stream: Readable) =>
    createInterface({ input: stream }).on('line', (line) => {
      log.append(line);
      const notice = noticeOf(line);
      if (notice) say(`${part}: ${notice}`);
    });
  take(stdout);
  take(stderr);
  child.once('close', () => log.close());
  let isOver = false;
  const exited = new Promise<Exit>((resolve) => {
    child.once('error', (error) => resolve({ how: messageOf(error) }));
    child.once('exit', (code, signal) => resolve({ how: describeExit(code, signal) }));
  });
  void exited.then(() => (isOver = true));
  return {
    pid: child.pid,
    exited,
    wasReady: () => isReady,
    async stop(graceMs) {
      if (!isOver) child.kill(graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
      const kill = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(kill);
    },
  };
}

/** Starts and reads of operations come before their work: the worker, and what it starts, gets less of a busy machine. */
function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended.
  }
}

/** The notice in a log line; undefined for a routine line. */
function noticeOf(line: string): string | undefined {
  if (!line.startsWith('{')) return line.trim() || undefined;
  try {
    const entry = JSON.parse(line) as { level?: number; msg?: string; err?: { message?: string } };
    if ((entry.level ?? 0) < WARN) return undefined;
    return [entry.msg, entry.err?.message].filter(Boolean).join(': ');
  } catch {
    return line;
  }
}
