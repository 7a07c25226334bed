import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { KeptOutcome } from '../../activities/runtime/context.js';
import {
  claimRunning,
  recordRunning,
  releaseRunning,
  removeRunning,
  runningSteps,
  type FoundStep,
  type RunningStep,
} from '../../worker/steps/running.js';
import { adoptSteps } from '../../worker/steps/adopt-steps.js';
import { eventually, readText } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { StepHome } from './steps-support.js';

jest.setTimeout(PROCESSES_MS);
let home: StepHome;

beforeEach(async () => {
  home = await StepHome.open();
});
afterEach(() => home.removeClean());

const file = (name: string) => join(home.paths.workspace, name);
const journal = (run: string, name: string) => join(home.paths.steps, '1', run, name);

const COUNT = 'echo run >>count; ';
const runs = () => readText(file('count')).split('\n').length - 1;

describe('a step that is run once more', () => {
  test('after it has done its work gives its result, and does not run', async () => {
    const script = `${COUNT} echo a=1 >>"$LONGHAUL_OUTPUT"`;
    const done = { exitCode: 0, outputs: { a: '1' } };
    expect(await home.run(script)).toEqual(done);
    expect(await home.run(script)).toEqual(done);
    expect(await home.run(script, {}, { attempt: 2 })).toEqual(done);
    expect(runs()).toBe(1);
    // A further round runs the step.
    expect(await home.run(script, { round: 2 })).toEqual(done);
    expect(runs()).toBe(2);
  });

  test('by the attempt that failed already fails as it did; by a later one it runs', async () => {
    const script = `${COUNT} echo said; echo a=1 >>"$LONGHAUL_OUTPUT"; echo "is $LONGHAUL_ATTEMPT"; exit 7`;
    const first = await home.failed(script, {}, { attempt: 2 });
    expect(first.trouble).toEqual({ exitCode: 7, outputs: { a: '1' }, lastLines: ['said', 'is 1'] });
    expect(await home.failed(script, {}, { attempt: 2 })).toEqual(first);
    expect(await home.failed(script, {}, { attempt: 1 })).toEqual(first);
    expect(runs()).toBe(1);
    // As a worker does, which removes the record once the outcome is reported: that of this run is the only one then.
    let kept: KeptOutcome | undefined;
    const around = { attempt: 3, keep: (outcome: KeptOutcome) => void (kept = outcome) };
    expect((await home.failed(script, {}, around)).trouble.lastLines).toEqual(['said', 'is 2']);
    expect(runs()).toBe(2);
    expect(home.runningFiles()).toHaveLength(1);
    await kept?.forget();
  });

  test('after its end was lost is in doubt, and does not run', async () => {
    await home.run(`${COUNT} echo a=1 >>"$LONGHAUL_OUTPUT"; echo done`);
    rmSync(journal('1.1', 'exit.json'));
    const failed = await home.failed(COUNT, {}, { attempt: 2 });
    expect(failed).toMatchObject({ type: 'StepInDoubt', nonRetryable: true });
    expect(failed.trouble).toEqual({ outputs: { a: '1' }, lastLines: ['done'] });
    expect(failed.message).toBe('step "compile" is in doubt: its worker went away while it ran');
    expect(runs()).toBe(1);
    // Taken as done, its outputs count; run again, it is another round.
    expect(await home.run(COUNT, { isTakenAsDone: true })).toEqual({ exitCode: 0, outputs: { a: '1' } });
    expect(runs()).toBe(1);
    await home.run(COUNT, { round: 2 });
    expect(runs()).toBe(2);
  });

  test('that never ran and is taken as done has no outputs', async () => {
    expect(await home.run(COUNT, { isTakenAsDone: true })).toEqual({ exitCode: 0, outputs: {} });
    expect(existsSync(file('count'))).toBe(false);
  });
});

describe('a step of a workflow run that was reset', () => {
  const inNewRun = { runId: 'run-2' };

  test('runs again, whatever its outcome in the replaced run', async () => {
    await home.run(`${COUNT} echo a=1 >>"$LONGHAUL_OUTPUT"`);
    const again = await home.run(`${COUNT} echo b=2 >>"$LONGHAUL_OUTPUT"`, {}, inNewRun);
    expect(again.outputs).toEqual({ b: '2' });
    // The new run has a journal of its own.
    expect(await home.run(COUNT, {}, inNewRun)).toEqual(again);
    expect(runs()).toBe(2);
    await home.failed(`${COUNT} exit 7`, { step: 2 });
    await home.run(COUNT, { step: 2 }, inNewRun);
    expect(runs()).toBe(4);
    expect(readdirSync(join(home.paths.steps, '1')).sort()).toEqual(['1.1', '1.2']);
  });

  test('in doubt in the replaced run is in doubt in the new run only if that one has started it', async () => {
    await home.run(COUNT);
    rmSync(journal('1.1', 'exit.json'));
    await home.run(COUNT, {}, inNewRun);
    expect(runs()).toBe(2);
    rmSync(journal('1.2', 'exit.json'));
    expect((await home.failed(COUNT, {}, inNewRun)).type).toBe('StepInDoubt');
    expect(runs()).toBe(2);
  });

  test('taken as done before the reset has the outputs of the replaced run, by the time of its start', async () => {
    await home.run('echo a=old >>"$LONGHAUL_OUTPUT"', { round: 2 });
    const taken = { isTakenAsDone: true };
    expect((await home.run('false', taken, inNewRun)).outputs).toEqual({ a: 'old' });
    await home.run('echo a=new >>"$LONGHAUL_OUTPUT"', {}, inNewRun);
    expect((await home.run('false', taken, inNewRun)).outputs).toEqual({ a: 'new' });
    expect((await home.run('false', taken, { runId: 'run-3' })).outputs).toEqual({ a: 'new' });
  });

  test('waits for any step of the replaced run that is still running in its workspace', async () => {
    const stop = new AbortController();
    const old = home.failed(
      'echo x >ready; trap "sleep 1; echo old >>count; exit 1" TERM; sleep 600 & wait',
      {},
      {
        stop: stop.signal,
        graceMs: 10_000,
      },
    );
    await eventually('the step runs', () => readText(file('ready')));
    const next = home.run('echo new >>count', { step: 2 }, inNewRun);
    await eventually('it waits', () =>
      home.lines.includes('waiting for the end of a step of the replaced workflow run'),
    );
    expect(existsSync(file('count'))).toBe(false);
    // As after a heartbeat of an activity whose workflow has closed.
    stop.abort('given_up');
    expect((await old).name).toBe('CompleteAsyncError');
    const { adopted, settled } = await adoptSteps(home.adoption({ isClosed: true }));
    expect(adopted).toHaveLength(1);
    await settled;
    await next;
    expect(readText(file('count'))).toBe('old\nnew\n');
  });

  test('that waits, and is itself the replaced one, ends without having started', async () => {
    const running = home.run('echo x >ready; until [ -e go ]; do sleep 0.05; done', {}, inNewRun);
    await eventually('the step runs', () => readText(file('ready')));
    const stop = new AbortController();
    const late = home.failed('touch late', { step: 2 }, { stop: stop.signal });
    await eventually('it waits', () => home.lines.some((line) => line.startsWith('waiting for the end')));
    stop.abort('given_up');
    expect(await late).toMatchObject({ type: 'StepNotRun' });
    await home.run('touch go', { step: 3 }, inNewRun);
    await running;
    expect(existsSync(file('late'))).toBe(false);
  });
});

test('a running step is listed at every moment, also while workers claim and release it', async () => {
  const stepId = 'renamed-all-the-time';
  await recordRunning(home.home, { stepId } as RunningStep);
  let isOver = false;
  const renaming = (async () => {
    while (!isOver) {
      await releaseRunning(home.home, { stepId });
      await delay(1);
      await claimRunning(home.home, { stepId, file: `${stepId}.json` } as FoundStep);
      await delay(1);
    }
  })();
  try {
    for (let look = 0; look < 500; look += 1)
      expect((await runningSteps(home.home)).map((running) => running.stepId)).toEqual([stepId]);
  } finally {
    isOver = true;
    await renaming;
  }
  await removeRunning(home.home, stepId);
});
