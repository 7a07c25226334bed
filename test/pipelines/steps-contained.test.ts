/** Processes that leave their step's session and clear their environment, with each containment that this host offers. */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findContainment, findOnPath, type Containment } from '../../worker/steps/containment.js';
import { findAttempts } from '../../worker/steps/journal.js';
import { isLauncherAlive, killLeftovers } from '../../worker/steps/leftovers.js';
import { adoptSteps } from '../../worker/steps/adopt-steps.js';
import { eventually, isRunning, kill, readText } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { WorkedHome } from './steps-workers.js';

jest.setTimeout(PROCESSES_MS);

const PATH = process.env['PATH'] ?? '';
const offered = await findContainment(PATH);
const CONTAINMENTS: [string, Containment][] = [
  ...(offered.cgroups ? [['a cgroup', { cgroups: offered.cgroups }] satisfies [string, Containment]] : []),
  ...(await subreapers()),
];

/** The subreapers that a PATH with one of the programs offers. */
async function subreapers(): Promise<[string, Containment][]> {
  const all: [string, Containment][] = [];
  for (const [program, ...question] of [
    ['perl', '-e', 'print $^X'],
    ['python3', '-c', 'import sys; print(sys.executable)'],
  ] as const) {
    if (!findOnPath(program, PATH)) continue;
    // The program itself, not a version manager's script.
    const real = execFileSync(program, question, { encoding: 'utf8' }).trim();
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-path-'));
    symlinkSync(findOnPath('bash', PATH)!, join(folder, 'bash'));
    symlinkSync(real, join(folder, program));
    const { subreaper } = await findContainment(folder);
    rmSync(folder, { recursive: true });
    const command = subreaper && [real, ...subreaper.slice(1)];
    if (command) all.push([`a subreaper by ${program}`, { subreaper: command }]);
  }
  return all;
}

/** Names of the files that {@link HIDING} writes PIDs to. */
const HIDDEN = ['direct', 'forked', 'nohup', 'daemon', 'deaf', 'orphan'];

const NAMING = `sed -n 's|^0::.*/||p' /proc/self/cgroup >cgroup`;

/** Starts processes that hide, each in another way, and waits until all have written their PIDs. */
const HIDING = `
  ${NAMING}
  hide() { exec env -i PATH="$PATH" /usr/bin/setsid "$BASH" -c "$1"; }
  hide 'echo $$ >direct; exec sleep 600' &
  ( (hide 'echo $$ >forked; exec sleep 600') & )
  (nohup env -i PATH="$PATH" setsid "$BASH" -c 'echo $$ >nohup; exec sleep 600' >/dev/null 2>&1 &)
  env -i PATH="$PATH" setsid -f "$BASH" -c 'exec </dev/null >/dev/null 2>&1; (echo $BASHPID >daemon; exec setsid sleep 600) &'
  hide 'trap "" TERM HUP INT; echo $$ >deaf; while :; do sleep 1; done' &
  hide 'setsid -f "$BASH" -c "echo \\$\\$ >orphan; sleep 600 & wait"' &
  until [ -s direct ] && [ -s forked ] && [ -s nohup ] && [ -s daemon ] && [ -s deaf ] && [ -s orphan ]; do sleep 0.05; done
`;

let home: WorkedHome;
let hidden: number[];

beforeEach(async () => {
  hidden = [];
  home = await WorkedHome.open();
});
afterEach(async () => {
  const survivors = hidden.filter(isRunning);
  survivors.forEach((pid) => kill(pid));
  const cgroup = readText(home.file('cgroup')).trim();
  expect(await home.remove()).toEqual([]);
  expect(survivors).toEqual([]);
  // The cgroups of steps of other tests are beside it.
  if (offered.cgroups && cgroup.startsWith('longhaul-'))
    expect(readdirSync(offered.cgroups)).not.toContain(cgroup);
});

async function areHidden(): Promise<void> {
  for (const name of HIDDEN) hidden.push(await home.pidIn(name));
}

const expectEnded = () =>
  expect(HIDDEN.filter((_, at) => isRunning(hidden[at]!)).map((name) => `${name} runs`)).toEqual([]);

test('this host offers a containment', () => {
  if (process.platform === 'linux') expect(CONTAINMENTS).not.toEqual([]);
});

describe.each(CONTAINMENTS)('in %s, hidden processes end', (_name, containment) => {
  test('with a step that ends by itself', async () => {
    const done = await home.run(`${HIDING}\necho a=b >"$LONGHAUL_OUTPUT"; echo done`, {}, { containment });
    await areHidden();
    expectEnded();
    expect(done).toEqual({ exitCode: 0, outputs: { a: 'b' } });
    expect(home.log()).toBe('done\n');
  });

  test('with a step that is cancelled, and has time to clean up', async () => {
    const stop = new AbortController();
    const script = `${HIDING}\ntrap 'sleep 0.3; echo cleaned >clean; exit' TERM; echo $$ >ready; while :; do sleep 0.1; done`;
    const running = home.failed(script, {}, { containment, stop: stop.signal, graceMs: 20_000 });
    await areHidden();
    await home.pidIn('ready');
    stop.abort('canceled');
    expect((await running).name).toBe('CancelledFailure');
    expectEnded();
    expect(readText(home.file('clean'))).toBe('cleaned\n');
  });

  test('with a step whose launcher hangs', async () => {
    const running = home.failed(`${HIDING}\necho $PPID >launcher; sleep 600`, {}, { containment });
    await areHidden();
    process.kill(await home.pidIn('launcher'), 'SIGSTOP');
    const [run] = await findAttempts(home.paths);
    const { stepId, cgroup } = run!.start;
    const pids = await home.launcherRecord();
    await killLeftovers({ folder: run!.folder, stepId, cgroup, pids });
    expect(isLauncherAlive({ folder: run!.folder, pids })).toBe(false);
    expectEnded();
    expect((await running).type).toBe('StepInDoubt');
  });

  test('and a step is otherwise as without it', async () => {
    const script = `
      env | grep -v -e ^LONGHAUL_STEP_ID= -e ^LONGHAUL_OUTPUT= | sort
      grep -E '^(Sig(Blk|Ign)|Uid|Gid|Groups|CapEff|NoNewPrivs|Seccomp):' /proc/self/status
      ulimit -a; umask; pwd; nice; echo $0 $- $#; ls /proc/$$/fd
      for fd in 0 1 2; do readlink /proc/$$/fd/$fd | tr -d 0-9; done
      sh -c 'yes | head -1; exit 3' || echo "exit $?"`;
    const env = { PERL5OPT: '-MNone', PYTHONPATH: '/none', PYTHONHOME: '/none', ODD: 'a\n=b \u00e9' };
    await home.run(script, { env }, { containment });
    await home.run(script, { env, step: 2 }, { containment: {} });
    expect(home.log(1)).toContain('exit 3');
    expect(home.log(1).replaceAll('/steps/1/', '/steps/2/')).toBe(home.log(2));
  });
});

describe('by default, hidden processes end', () => {
  test('with a step that another worker has adopted', async () => {
    await home.killedWorker(`${HIDING}\necho $$ >ready; until [ -e go ]; do sleep 0.05; done; echo done`);
    await areHidden();
    const { settled } = await adoptSteps(home.adoption());
    expect(hidden.every(isRunning)).toBe(true);
    home.letGo();
    await settled;
    expectEnded();
    expect(home.outcomes).toMatchObject([{ done: { exitCode: 0 } }]);
  });

  test('with a step that ended while no worker was there', async () => {
    await home.killedWorker(`${HIDING}\necho $$ >ready; until [ -e go ]; do sleep 0.05; done`);
    await areHidden();
    const pids = await home.launcherRecord();
    home.letGo();
    await eventually('its launcher has ended', () => !isRunning(pids.launcher));
    await home.adopt();
    expectEnded();
  });
});

(offered.cgroups ? describe : describe.skip)('in a cgroup', () => {
  const containment = { cgroups: offered.cgroups };

  test('hidden processes end also when the launcher is killed', async () => {
    const running = home.failed(`${HIDING}\necho $PPID >launcher; sleep 600`, {}, { containment });
    await areHidden();
    kill(await home.pidIn('launcher'));
    expect((await running).type).toBe('StepInDoubt');
    expectEnded();
  });

  test('cgroups that the step has made are removed too', async () => {
    const script = `
      ${NAMING}
      own=${offered.cgroups}/$(sed -n 's|^0::.*/||p' /proc/self/cgroup)
      mkdir -p "$own/inner/innermost"
      env -i /usr/bin/setsid /bin/sh -c 'echo 0 >"$0/inner/innermost/cgroup.procs"; echo $$ >nested; exec sleep 600' "$own" &
      until [ -s nested ]; do sleep 0.05; done
      grep -q /inner/innermost "/proc/$(cat nested)/cgroup" && echo inside`;
    await home.run(script, {}, { containment });
    hidden.push(await home.pidIn('nested'));
    expect(isRunning(hidden[0]!)).toBe(false);
    expect(home.log()).toBe('inside\n');
  });

  test('a step whose cgroup cannot be made runs', async () => {
    const done = await home.run(
      'echo ok',
      {},
      { containment: { cgroups: join(offered.cgroups!, 'missing') } },
    );
    expect(done.exitCode).toBe(0);
  });
});
