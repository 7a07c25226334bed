/**
 * Containment of a step's processes: finds even processes that left its session and cleared its environment, such as a server started
 * with `env -i setsid`.
 *
 * - A cgroup (v2) holds all processes of the step, even after its launcher was killed. The worker needs a cgroup that it may write to: as
 *   root, in a systemd user session, or in a unit with `Delegate=yes`.
 * - A launcher that is a subreaper adopts the step's orphans. That needs no rights, but perl or python3: bash can't make the system call.
 */
import { execFile } from 'node:child_process';
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join, relative } from 'node:path';

export interface Containment {
  /** Path of the cgroup below which each step gets its own; undefined if the worker can't make any. */
  cgroups?: string;
  /** Command that makes its process a subreaper and then executes its arguments; undefined if there is none. */
  subreaper?: string[];
}

/** Numbers of prctl(2), and its operation PR_SET_CHILD_SUBREAPER. */
const PRCTL: Partial<Record<NodeJS.Architecture, number>> = { x64: 157, arm64: 167 };
const SET_CHILD_SUBREAPER = 36;

/** Limits of a cgroup that programs adapt to. */
const LIMITS = ['memory.max', 'memory.high', 'cpu.max'];

const PROBE_LIMIT_MS = 5_000;

const found = new Map<string, Promise<Containment>>();

/** This host's containment, determined once. @param path PATH of the worker */
export function findContainment(path: string): Promise<Containment> {
  let finding = found.get(path);
  if (!finding) found.set(path, (finding = find(path)));
  return finding;
}

/** Path of a step's cgroup, which may not exist; undefined without cgroups. */
export function cgroupOf({ cgroups }: Containment, stepId: string): string | undefined {
  return cgroups && join(cgroups, `longhaul-step-${stepId}`);
}

/** @returns whether it was made */
export function makeCgroup(cgroup: string): boolean {
  try {
    mkdirSync(cgroup);
    return true;
  } catch {
    return false;
  }
}

/** PIDs in a cgroup and the cgroups below it, which a step may have made; none if it doesn't exist. */
export function processesIn(cgroup: string): number[] {
  const own = (read(join(cgroup, 'cgroup.procs')) ?? '').split('\n').map(Number).filter(Boolean);
  return [...own, ...below(cgroup).flatMap(processesIn)];
}

/** Sends SIGKILL to all processes in a cgroup, without racing their forks. Does nothing before Linux 5.14. */
export function killCgroup(cgroup: string): void {
  try {
    writeFileSync(join(cgroup, 'cgroup.kill'), '1', { flag: 'r+' });
  } catch {
    // The processes are killed one by one.
  }
}

/** Removes a cgroup and the cgroups below it. One with processes stays. */
export function removeCgroup(cgroup: string): void {
  below(cgroup).forEach(removeCgroup);
  try {
    rmdirSync(cgroup);
  } catch {
    // It is gone, or a process can't be killed.
  }
}

function below(cgroup: string): string[] {
  try {
    const entries = readdirSync(cgroup, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(cgroup, name));
  } catch {
    return [];
  }
}

async function find(path: string): Promise<Containment> {
  if (process.platform !== 'linux') return {};
  const bash = findOnPath('bash', path);
  if (!bash) return {};
  return { cgroups: await findCgroups(bash), subreaper: await findSubreaper(bash, path) };
}

async function findCgroups(bash: string): Promise<string | undefined> {
  const own = ownCgroup();
  // Most programs read limits only from their own cgroup: a step in another one would miss the worker's.
  if (own === undefined || LIMITS.some((limit) => isSet(read(join(own, limit))))) return undefined;
  const probe = join(own, `longhaul-probe-${process.pid}`);
  if (!makeCgroup(probe)) return undefined;
  try {
    const enter = ['-c', 'echo 0 >"$1/cgroup.procs"', 'bash', probe];
    return (await succeeds([bash, ...enter])) ? own : undefined;
  } finally {
    removeCgroup(probe);
  }
}

/** Path of this process's cgroup in the unified hierarchy, by cgroups(7) and proc_pid_mountinfo(5). */
function ownCgroup(): string | undefined {
  const path = /^0::(\/.*)$/m.exec(read('/proc/self/cgroup') ?? '')?.[1];
  // A path with `..` leads out of the cgroup namespace.
  if (path === undefined || path.includes('/..')) return undefined;
  for (const line of (read('/proc/self/mountinfo') ?? '').split('\n')) {
    const [mount = '', type = ''] = line.split(' - ');
    const [, , , root, mountPoint] = mount.split(' ');
    if (!type.startsWith('cgroup2 ') || root === undefined || mountPoint === undefined) continue;
    const inMount = relative(root, path);
    if (!inMount.startsWith('..')) return join(mountPoint, inMount);
  }
  return undefined;
}

function isSet(limit: string | undefined): boolean {
  return limit !== undefined && !limit.startsWith('max');
}

async function findSubreaper(bash: string, path: string): Promise<string[] | undefined> {
  // The launcher finds its children there.
  if (read(`/proc/self/task/${process.pid}/children`) === undefined) return undefined;
  for (const command of [perl(path), python(path)])
    if (command && (await succeeds([...command, bash, '-pc', 'exit 0']))) return command;
  return undefined;
}

/** With `-t`, perl ignores PERL5OPT and PERL5LIB, which a step may set; `-X` silences its warnings. */
function perl(path: string): string[] | undefined {
  const file = findOnPath('perl', path);
  const prctl = PRCTL[process.arch];
  if (file === undefined || prctl === undefined) return undefined;
  const call = `syscall(${prctl}, ${SET_CHILD_SUBREAPER}, 1, 0, 0, 0)`;
  return [file, '-tX', '-e', `exit 125 if ${call}; exec {$ARGV[0]} @ARGV; exit 126`];
}

/** Python ignores two signals and may set LC_CTYPE when it starts: both would reach the step. */
const PYTHON = `
import ctypes, os, signal, sys
if ctypes.CDLL(None).prctl(${SET_CHILD_SUBREAPER}, 1, 0, 0, 0): sys.exit(125)
for number in signal.SIGPIPE, signal.SIGXFSZ: signal.signal(number, signal.SIG_DFL)
with open("/proc/self/environ", "rb") as file: variables = file.read().split(b"\\0")
os.execve(sys.argv[1], sys.argv[1:], dict(one.split(b"=", 1) for one in variables if b"=" in one))
`;

function python(path: string): string[] | undefined {
  const file = findOnPath('python3', path);
  return file === undefined ? undefined : [file, '-IS', '-c', PYTHON];
}

function succeeds([file, ...args]: string[]): Promise<boolean> {
  return new Promise((resolve) =>
    execFile(file!, args, { timeout: PROBE_LIMIT_MS }, (error) => resolve(error === null)),
  );
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

export function findOnPath(program: string, path = ''): string | undefined {
  return path
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, program))
    .find((candidate) => {
      try {
        accessSync(candidate, constants.X_OK);
        return statSync(candidate).isFile();
      } catch {
        return false;
      }
    });
}
