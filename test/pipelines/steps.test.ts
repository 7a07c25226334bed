import { getPriority } from 'node:os';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
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
