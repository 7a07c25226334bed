/**
 * Processes of runners: each runner is the leader of a process group, and carries a marker in its environment that its children inherit.
 * So whatever it leaves behind can be found and ended: by this attempt, by the guard when the worker is killed, or by the next attempt.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const MARKER = 'TEST_RUN_MARKER';

/** Time between SIGTERM and SIGKILL, in milliseconds. */
const GRACE_MS = 3_000;

/** The guard reads a pipe that the worker holds: a line ends it, the pipe's end without one ends the group. */
const GUARD = 'read -r _ && exit 0; kill -TERM "-$1"; sleep 2; kill -KILL "-$1"';

export interface RunnerProcess {
  child: ChildProcess;
  exited: Promise<{ exitCode: number | null; signal: NodeJS.Signals | null }>;
  /** Settles once the file for the PID is written. */
  recorded: Promise<void>;
  /** Ends the group, and on Linux the processes that have left it. @returns how many processes there were */
  end(graceMs?: number): Promise<number>;
  /** To be called once everything has ended. */
  release(): Promise<void>;
}

export interface Command {
  /** Program and arguments. No shell sees them. */
  argv: string[];
  cwd: string;
  environment: Record<string, string | undefined>;
}

/**
 * Starts a runner. Descriptor 3 of it is a pipe for the lines of its reporter. Its pipes have to be read at once: Node.js drops what
 * nobody has begun to read when the runner ends.
 *
 * @param marker of this work, the same for all of its attempts
 * @param record file for the PID, for the next attempt
 * @throws Error with code ENOENT when there is no such program
 */
export async function startRunner(
  { argv, cwd, environment }: Command,
  marker: string,
  record: string,
): Promise<RunnerProcess> {
  const [program, ...args] = argv as [string, ...string[]];
  const child = spawn(program, args, {
    cwd,
    env: { ...environment, [MARKER]: marker },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const exited = new Promise<{ exitCode: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal })),
  );
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  const pid = child.pid!;
  const guard = spawn('sh', ['-c', GUARD, 'guard', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.stdin.on('error', () => undefined);
  guard.on('error', () => undefined);
  const recorded = writeRecord(record, pid);
  // Awaited by the caller: no unhandled rejection until then.
  recorded.catch(() => undefined);
  return {
    child,
    exited,
    recorded,
    end: (graceMs = GRACE_MS) => endProcesses(marker, pid, graceMs),
    release: async () => {
      guard.stdin.end('done\n');
      await rm(record, { force: true });
    },
  };
}

async function writeRecord(record: string, pid: number): Promise<void> {
  await mkdir(dirname(record), { recursive: true });
  await writeFile(record, JSON.stringify({ pid, startedAt: await startTime(pid) }));
}

/** Ends what an earlier attempt has left, e.g. when its worker was killed. @returns the number of its processes */
export async function endEarlierAttempt(marker: string, record: string): Promise<number> {
  const text = await readFile(record, 'utf8').catch(() => '{}');
  let found: { pid?: number; startedAt?: string } = {};
  try {
    found = JSON.parse(text) as typeof found;
  } catch {
    // Cut off by the kill: the marker remains.
  }
  // The PID may be another process's by now.
  const isSame =
    found.pid !== undefined && found.startedAt && (await startTime(found.pid)) === found.startedAt;
  const ended = await endProcesses(marker, isSame ? found.pid : undefined, 0);
  await rm(record, { force: true });
  return ended;
}

async function endProcesses(marker: string, group: number | undefined, graceMs: number): Promise<number> {
  const first = await remaining(marker, group);
  const until = performance.now() + graceMs;
  for (let signal: NodeJS.Signals = 'SIGTERM', left = first; left.length > 0;) {
    if (performance.now() >= until) signal = 'SIGKILL';
    if (group !== undefined) send(-group, signal);
    for (const pid of left) send(pid, signal);
    await sleep(50);
    left = await remaining(marker, group);
  }
  return first.length;
}

/** PIDs with the marker, and of the group. Without /proc, the group stands for all. */
async function remaining(marker: string, group: number | undefined): Promise<number[]> {
  if (process.platform !== 'linux') return group !== undefined && send(-group, 0) ? [group] : [];
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const pids = await Promise.all(
    names.map(async (name) => {
      const [environment, stat] = await Promise.all(
        [`/proc/${name}/environ`, `/proc/${name}/stat`].map((path) =>
          readFile(path, 'latin1').catch(() => ''),
        ),
      );
      const [state, , itsGroup] = stat!.slice(stat!.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z' || state === undefined) return [];
      const isOurs = `\0${environment}`.includes(`\0${MARKER}=${marker}\0`) || Number(itsGroup) === group;
      return isOurs ? [Number(name)] : [];
    }),
  );
  return pids.flat();
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Empty where it can't be seen, or the process is gone. */
async function startTime(pid: number): Promise<string> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }));
  return stdout.trim();
}
