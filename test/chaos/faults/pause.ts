/** Pauses of a process, as by a host that hangs: SIGSTOP, and SIGCONT after a time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Stops a process with all its threads, and continues it. A process in between does both, in a session of its own: the pause ends on
 * time whatever happens to this process, be it Ctrl-C or SIGKILL. A process that is gone is no error.
 *
 * @returns once the process has been continued
 */
export async function pause(pid: number, pauseMs: number): Promise<void> {
  const script = 'kill -STOP "$1" && sleep "$2"; kill -CONT "$1"';
  const shell = spawn('/bin/sh', ['-c', script, 'pause', String(pid), String(pauseMs / 1000)], {
    stdio: 'ignore',
    detached: true,
  });
  await once(shell, 'close');
}
