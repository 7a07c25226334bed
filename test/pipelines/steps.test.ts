/** A step's script, what it gets, and its end. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { eventually, isRunning, kill, readText } from '../stack/cli-process.js';
import { StepHome } from './steps-support.js';

let home: StepHome;

beforeEach(async () => {
  home = await StepHome.open({
    inputs: { 'dry-run': true, list: [1, 2], text: "it's $HOME; `x`", large: 'x'.repeat(40_000) },
  });
});
afterEach(async () => {
  const records = home.runningFiles();
  expect(await home.remove()).toEqual([]);
  expect(records).toEqual([]);
});

/** Path of a file in the workspace. */
const file = (name: string) => join(home.paths.workspace, name);

/** Waits until the script has written a PID. */
const pidIn = (name: string) => eventually(`${name} is written`, () => Number(readText(file(name))));

describe('a step', () => {
  test('runs its script with bash -eo pipefail, and writes both streams to its log in their order', async () => {
    const done = await home.run('echo one; echo two >&2; echo three; echo four >/dev/stderr');
    expect(done).toEqual({ exitCode: 0, outputs: {} });
    expect(home.log()).toBe('one\ntwo\nthree\nfour\n');
    expect(await home.failed('false | true; echo never', { step: 2 })).toMatchObject({
      type: 'StepFailed',
      nonRetryable: false,
      message: 'step "compile" failed with exit code 1',
      trouble: { exitCode: 1, outputs: {}, lastLines: [] },
    });
  });

  test('has a lower priority than its worker', async () => {
    await home.run('nice');
    expect(Number(home.log())).toBe(Math.min(getPriority() + 5, 19));
  });

  test('gets inputs as variables and whole as a file, and nothing of the worker that is not on the list', async () => {
    await home.run(
      'env -0 | sort -z | tr "\\0" "\\n"; echo "INPUTS $(wc -c <"$LONGHAUL_INPUTS")"',
      { env: { MINE: 'a "b" $c' }, approval: { reason: 'because' } },
      { environment: { ...process.env, SECRET_OF_WORKER: 'x', LC_TIME: 'C', LONGHAUL_SECRET_A: 'abcdef' } },
    );
    const log = home.log();
    for (const line of [
      'CI=true',
      'LONGHAUL=true',
      'LONGHAUL_TOKEN=token-1',
      'LONGHAUL_JOB=build',
      'LONGHAUL_STEP=compile',
      'LONGHAUL_ATTEMPT=1',
      `LONGHAUL_WORKSPACE=${home.paths.workspace}`,
      'LONGHAUL_PROJECT=/project',
      'INPUT_DRY_RUN=true',
      'INPUT_LIST=[1,2]',
      "INPUT_TEXT=it's $HOME; `x`",
      'MINE=a "b" $c',
      'APPROVAL_REASON=because',
      'LC_TIME=C',
    ])
      expect(log.split('\n')).toContain(line);
    expect(log).not.toMatch(/SECRET|INPUT_LARGE|NODE_OPTIONS|JEST/);
    expect(log).toMatch(/INPUTS 40\d\d\d/);
  });
});

describe('the end of a step', () => {
  test('takes processes in the background along, also those in a session of their own', async () => {
    const done = await home.run(`
      sleep 600 & echo $! >group
      setsid bash -c 'echo $$ >session; exec sleep 600' &
      setsid -f sleep 600 >/dev/null 2>&1
      (trap '' TERM; echo $BASHPID >deaf; while :; do sleep 1; done) &
      set -m; sleep 600 & echo $! >job
      until [ -s session ] && [ -s deaf ]; do sleep 0.05; done
      echo done`);
    expect(done.exitCode).toBe(0);
    expect(home.log()).toBe('done\n');
    for (const name of ['group', 'session', 'deaf', 'job']) expect(isRunning(await pidIn(name))).toBe(false);
  });

  test('comes when its shell ends, not when its outputs are closed', async () => {
    const done = await home.run('echo before; exec >&- 2>&-; sleep 1; echo a=b >"$LONGHAUL_OUTPUT"; exit 0');
    expect(done).toEqual({ exitCode: 0, outputs: { a: 'b' } });
    expect(home.log()).toBe('before\n');
  });

  test('does not wait for a stranger that holds its output and hides, where the host has no containment', async () => {
    const done = await home.run(
      `env -i /usr/bin/setsid /bin/sh -c 'echo $$ >stranger; exec sleep 30' & until [ -s stranger ]; do sleep 0.05; done`,
      {},
      { containment: {} },
    );
    expect(done.exitCode).toBe(0);
    kill(await pidIn('stranger'));
  });

  test('distinguishes an exit code of 137 from a SIGKILL', async () => {
    expect((await home.failed('exit 137')).trouble).toMatchObject({ exitCode: 137 });
    const killed = await home.failed('kill -KILL $$', { step: 2 });
    expect(killed.trouble).toEqual({ signal: 'SIGKILL', outputs: {}, lastLines: [] });
    expect(killed.message).toBe('step "compile" failed with signal SIGKILL');
  });

  test('by cancel is SIGTERM to the whole group, and time to clean up', async () => {
    const stop = new AbortController();
    const script = `
      bash -c 'trap "sleep 0.3; echo cleaned >child; exit" TERM; echo $$ >ready; while :; do sleep 0.1; done'
      echo never`;
    const running = home.failed(script, {}, { stop: stop.signal, graceMs: 20_000 });
    await pidIn('ready');
    stop.abort('canceled');
    expect((await running).name).toBe('CancelledFailure');
    expect(readText(file('child'))).toBe('cleaned\n');
    expect(home.log()).not.toContain('never');
  });

  test('by cancel is SIGKILL for processes that ignore SIGTERM', async () => {
    const stop = new AbortController();
    const script = `trap '' TERM; echo $$ >ready; while :; do sleep 0.2; done`;
    const running = home.failed(script, {}, { stop: stop.signal, graceMs: 500 });
    const pid = await pidIn('ready');
    stop.abort('canceled');
    expect((await running).name).toBe('CancelledFailure');
    expect(isRunning(pid)).toBe(false);
  });

  test('by its time-out says so, with what it had written until then', async () => {
    const failed = await home.failed('echo a=1 >>"$LONGHAUL_OUTPUT"; echo slow; sleep 600', {
      timeoutMinutes: 0.02,
    });
    expect(failed).toMatchObject({
      type: 'StepTimedOut',
      nonRetryable: true,
      message: 'step "compile" was ended: it took longer than its timeout-minutes of 0.02 min',
      trouble: { outputs: { a: '1' }, lastLines: ['slow'] },
    });
  });

  test('with its worker, by the setting, leaves it in doubt', async () => {
    const stop = new AbortController();
    const settings = { home: home.home, project: '/project', stepEnvironment: [], stepsEndWithWorker: true };
    const around = { stop: stop.signal, settings };
    const running = home.failed('echo half; echo $$ >ready; sleep 600', {}, around);
    await pidIn('ready');
    await eventually('its output is in the log', () => home.log() === 'half\n');
    stop.abort('shutdown');
    const why = 'its worker went away while it ran';
    expect(await running).toMatchObject({
      type: 'StepInDoubt',
      nonRetryable: true,
      message: expect.stringContaining(why) as unknown,
      trouble: { lastLines: ['half'] },
    });
    // Asked again, the journal says the same, and runs nothing.
    expect((await home.failed('echo again', {}, { attempt: 2 })).message).toContain(why);
    expect(home.log()).toBe('half\n');
  });

  test('by a signal to its launcher, as of a service manager, leaves it in doubt', async () => {
    const running = home.failed('echo $PPID >launcher; echo $$ >ready; sleep 600');
    await pidIn('ready');
    process.kill(await pidIn('launcher'), 'SIGTERM');
    expect(await running).toMatchObject({
      type: 'StepInDoubt',
      message: expect.stringContaining('a signal from outside') as unknown,
    });
  });

  test('is not delayed by a step that stops itself', async () => {
    const failed = await home.failed('kill -STOP $$; echo never', { timeoutMinutes: 0.02 }, { graceMs: 300 });
    expect(failed.type).toBe('StepTimedOut');
    expect(home.log()).toBe('');
  });

  test('is known also when its journal cannot be written', async () => {
    const done = await home.run(
      // The launcher may write into it meanwhile.
      `until rm -rf "$(dirname "$LONGHAUL_OUTPUT")"; do :; done`,
    );
    expect(done).toEqual({ exitCode: 0, outputs: {} });
  });
});
