/**
 * Starts a foreign program that can't outlive this process: a small `sh` script ends it when the pipe from this process closes.
 * The script has its own session, because a terminal's Ctrl-C must not reach the program before the stack has drained.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { closeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { openLog } from './log-files.js';
import { waitUntilGone, processIdentity, signalProcess } from '../platform/home/process-identity.js';
import { messageOf } from './stack-error.js';

// The program's PID goes to standard output, its output to the log on descriptor 2. Background commands of a shell have no
// standard input, so the pipe is on descriptor 3.
const SCRIPT = `
exec 3<&0 </dev/null
"$@" 3<&- >&2 &
program=$!
echo "$program"
exec >&-
(
  while read -r line <&3; do :; done
  kill "$program" 2>/dev/null
  waited=0
  while [ "$waited" -lt 8 ]; do
    sleep 1
    kill -0 "$program" 2>/dev/null || exit 0
    waited=$((waited + 1))
  done
  kill -9 "$program" 2>/dev/null
) &
watch=$!
exec 3<&-
wait "$program"
code=$?
kill "$watch" 2>/dev/null
exit "$code"
`;

export interface Exit {
  /** For messages: `exit code 1`, `signal SIGKILL`. */
  how: string;
}

export interface Launched {
  /** PID of the program itself, not of `sh`. */
  pid: number;
  exited: Promise<Exit>;
  /** Sends SIGTERM, then SIGKILL after `graceMs`. Resolves when the program has ended. */
  stop(graceMs: number): Promise<void>;
}

/** @param options.log name of a log in `LONGHAUL_HOME/logs` for the program's output */
export async function launch(
  command: readonly string[],
  options: { home: string; log: string; environment: NodeJS.ProcessEnv },
): Promise<Launched> {
  const log = openLog(options.home, options.log);
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'longhaul-launcher', ...command], {
    env: options.environment,
    stdio: ['pipe', 'pipe', log],
    detached: true,
  }) as ChildProcessByStdio<Writable, Readable, null>;
  closeSync(log);
  shell.stdin.on('error', () => undefined);
  const shellExited = new Promise<Exit>((resolve) => {
    shell.once('error', (error) => resolve({ how: messageOf(error) }));
    shell.once('exit', (code, signal) => resolve({ how: describeExit(code, signal) }));
  });
  const lines = createInterface({ input: shell.stdout });
  const first = await Promise.race([lines[Symbol.asyncIterator]().next(), shellExited]);
  const pid = 'value' in first ? Number(first.value) : NaN;
  if (!Number.isInteger(pid))
    throw new Error(`${command[0]} could not be started: ${(await shellExited).how}`);
  const startedAt = processIdentity(pid)?.startedAt;
  const isThere = () => startedAt !== undefined && processIdentity(pid)?.startedAt === startedAt;
  const exited = shellExited.then(async (exit) => {
    // Only `sh` may have been killed. Closing the pipe makes its watcher end the program.
    shell.stdin.destroy();
    if (!(await waitUntilGone(isThere, 5_000))) signalProcess(pid, 'SIGKILL');
    return exit;
  });
  return {
    pid,
    exited,
    async stop(graceMs) {
      if (isThere()) signalProcess(pid, 'SIGTERM');
      const kill = setTimeout(() => isThere() && signalProcess(pid, 'SIGKILL'), graceMs);
      await exited;
      clearTimeout(kill);
    },
  };
}

/** `sh` reports a program ended by a signal as 128 plus the signal's number. */
export function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal) return `signal ${signal}`;
  return code === 137 ? 'signal SIGKILL' : code === 143 ? 'signal SIGTERM' : `exit code ${code}`;
}
