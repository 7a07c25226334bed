/** A step's script, what it gets, and its end. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { eventually, kill, readText } from '../stack/cli-process.js';
import { StepHome } from './steps-support.js';

let home: StepHome;

beforeEach(async () => {
  home = await StepHome.open({
    inputs: { 'dry-run': true, list: [1, 2], text: "it's $HOME; `x`", large: 'x'.repeat(40_000) },
  });
});
afterEach(() => home.removeClean());

const file = (name: string) => join(home.paths.workspace, name);

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
  const EMPTY = 'workspace that is empty at first, and the files of the project are in $LONGHAUL_PROJECT';
  test.each([
    ['python3 extract.py', 'exit code 2', EMPTY],
    ['node extract.mjs', 'exit code 1', EMPTY],
    ['./load.sh', 'exit code 127: a command was not found', EMPTY],
    ['cat data/rows.csv', 'exit code 1', EMPTY],
    ['cat "$LONGHAUL_PROJECT/absent"', 'exit code 1', ''],
    ['no-such-command', 'exit code 127: a command was not found', ''],
    ['/etc/passwd', 'exit code 126: a command could not be run', ''],
    ['yes | head -1', 'exit code 141: SIGPIPE', ''],
  ])('has its reason and a hint: %s', async (script, reason, hint) => {
    const { message } = await home.failed(script);
    expect(message).toContain(`step "compile" failed with ${reason}`);
    if (hint) expect(message).toContain(hint);
    else expect(message).not.toContain('LONGHAUL_PROJECT');
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
