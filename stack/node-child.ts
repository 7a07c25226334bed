/** Starts the worker and the MCP server, which end when the pipe to their standard input closes: they can't outlive this process. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { constants, setPriority } from 'node:os';
import type { Readable } from 'node:stream';
import { PROGRAM_PATH } from '../platform/home/program.js';
import { describeExit, type Exit } from './launcher.js';
import { READY_MESSAGE } from './foreground.js';
import { LogFile } from './log-files.js';
import type { RunningProcess } from './keep-running.js';
import { messageOf, type Say } from './stack-error.js';

/** Lowest pino level shown on the console. */
const WARN = 40;

export type Part = 'worker' | 'server';

/** Whether a command line belongs to this home's stack. Parts get the home as an argument for this check. */
export function isPartOf(home: string, part: Part, commandLine: string): boolean {
  return `${commandLine} `.includes(` ${part} --home ${home} `);
}

/** Starts a part that logs to `LONGHAUL_HOME/logs/<part>.log`. Warnings and errors also go to `say`. */
export function startPart(
  part: Part,
  home: string,
  environment: NodeJS.ProcessEnv,
  say: Say,
): RunningProcess & { pid: number | undefined } {
  const child = spawn(process.execPath, [PROGRAM_PATH, part, '--home', home], {
    env: environment,
    // The IPC channel carries READY_MESSAGE.
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    // With its own session, a terminal's Ctrl-C can't reach the part and its activities before the supervisor drains it.
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

/** On a busy machine, the server's starts and reads come before the worker's tasks. */
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
