import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { recoverSteps } from '../../activities/pipeline/recovery.js';
import type { RunStep } from '../../pipelines/run.js';
import { eventually, isRunning, kill, readText } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { stepOf, StepHome } from './steps-support.js';

jest.setTimeout(PROCESSES_MS);
let home: StepHome;

beforeEach(async () => {
  home = await StepHome.open();
});
afterEach(async () => {
  expect(await home.leftovers()).toEqual([]);
  expect(home.runningFiles()).toEqual([]);
  home.remove();
});

const file = (name: string) => join(home.paths.workspace, name);
const journal = (run: string, name: string) => join(home.paths.steps, '1', run, name);

/** Runs one step as a worker does, in a process that can be killed. */
const WORKER = `
  import { runStep } from ${JSON.stringify(resolve('dist/activities/pipeline/run-step.js'))};
  import { folderStorage } from ${JSON.stringify(resolve('dist/platform/storage.js'))};
  const [home, step, graceMs] = process.argv.slice(1);
  await runStep(JSON.parse(step), {
    settings: { home, stepEnvironment: [] },
    storage: folderStorage(home + '/storage'),
    operationId: 'operation-1',
    workflowId: 'operation-1',
    runId: 'run-1',
    namespace: 'default',
    token: 'token-1',
    attempt: 1,
    taskToken: 'dG9rZW4=',
    stop: new AbortController().signal,
    graceMs: Number(graceMs),
  });
`;

/** A worker process that runs the step, and is killed once the step has written `ready`. */
async function killedWorker(
  run: string,
  step: Partial<RunStep> = {},
  graceMs = 1_000,
  isThere = () => true,
): Promise<void> {
  const args = [
    '--input-type=module',
    '--eval',
    WORKER,
    home.home,
    JSON.stringify(stepOf(run, step)),
    String(graceMs),
  ];
  const worker = spawn(process.execPath, args, {
    env: { ...process.env, NODE_OPTIONS: '', LONGHAUL_SECRET_KEY: 'top-secret-value' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ended = new Promise((settle) => worker.once('exit', settle));
  await eventually('the step runs', () => readText(file('ready')) && isThere());
  kill(worker.pid!);
  await ended;
}

/** Outcomes that would be reported to Temporal for steps of dead workers. */
async function recovered(): Promise<any[]> {
  const outcomes: any[] = [];
  await recoverSteps({
    settings: { home: home.home },
    storage: home.storage,
    namespace: 'default',
    environment: { LONGHAUL_SECRET_KEY: 'top-secret-value' },
    reportOutcome: async ({ taskToken }, outcome) => {
      const token = String(taskToken);
      if (outcome.status === 'completed') outcomes.push({ token, done: outcome.result });
      if (outcome.status === 'failed') {
        const { type, details } = outcome.error as any;
        outcomes.push({ token, type, trouble: details?.[0] });
      }
      return true;
    },
  });
  return outcomes;
}

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
    expect((await home.failed(script, {}, { attempt: 3 })).trouble.lastLines).toEqual(['said', 'is 2']);
    expect(runs()).toBe(2);
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

  test('has a heading of its own in the log, and the last lines are of the new run', async () => {
    await home.run('echo old');
    const { trouble } = await home.failed('echo new; exit 1', {}, inNewRun);
    expect(trouble.lastLines).toEqual(['new']);
    expect(home.log()).toMatch(
      /^old\n--- attempt 2, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, in a new workflow run\nnew\n$/,
    );
    // Read from the log, by the worker that finds it in the journal.
    expect((await home.failed('echo again', {}, inNewRun)).trouble.lastLines).toEqual(['new']);
    await home.failed('echo next; exit 1', {}, { ...inNewRun, attempt: 2 });
    expect(home.log()).toMatch(/\n--- attempt 3, [\d-]+T[\d:]+Z\nnext\n$/);
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
    // As by the heartbeat of an activity whose workflow has closed.
    stop.abort('given_up');
    await old;
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

  test('ends what a dead worker has left of the replaced run', async () => {
    await killedWorker('trap "" TERM; echo x >ready; while :; do sleep 0.1; done', {}, 60_000);
    await home.run('touch done', { step: 2 }, inNewRun);
    expect(existsSync(file('done'))).toBe(true);
    expect(await home.leftovers()).toEqual([]);
    await recovered();
  });
});

describe('kill -9 of a worker', () => {
  test('ends its step; the next worker reports to Temporal that it is in doubt, and so does the journal', async () => {
    await killedWorker(
      `${COUNT} echo half; setsid sleep 600 & sleep 600 & echo $$ >ready; sleep 600`,
      {},
      1_000,
      () => home.log() === 'half\n',
    );
    const pid = Number(readText(file('ready')));
    await eventually('the launcher has ended the step', () => !isRunning(pid));
    expect(await recovered()).toEqual([
      { token: 'token', type: 'StepInDoubt', trouble: { outputs: {}, lastLines: ['half'] } },
    ]);
    expect(await home.leftovers()).toEqual([]);
    expect(home.runningFiles()).toEqual([]);
    expect(await recovered()).toEqual([]);
    expect((await home.failed(COUNT, {}, { attempt: 2 })).type).toBe('StepInDoubt');
    expect(runs()).toBe(1);
  });

  test('does not make a step fail that keeps printing: it is ended, and in doubt', async () => {
    await killedWorker(`echo x >ready; while :; do echo more || echo broken >>trouble; done`);
    expect((await home.failed(COUNT, {}, { attempt: 2 })).type).toBe('StepInDoubt');
    expect(existsSync(file('trouble'))).toBe(false);
    await recovered();
  });

  test('whose step had ended already loses nothing: the result is reported, masked', async () => {
    // Its background process still runs, for which the worker waits.
    await killedWorker(
      `${COUNT} echo "a=$KEY" >>"$LONGHAUL_OUTPUT"
       (trap '' TERM; until [ -s ended ]; do sleep 0.05; done; echo x >ready; sleep 600) &
       echo x >ended`,
      { secrets: ['KEY'] },
      60_000,
    );
    expect(await recovered()).toEqual([{ token: 'token', done: { exitCode: 0, outputs: { a: '***' } } }]);
    expect(runs()).toBe(1);
  });

  test('twice recovered at once is reported twice at most', async () => {
    await killedWorker('echo x >ready; sleep 600');
    const around = {
      settings: { home: home.home },
      storage: home.storage,
      namespace: 'default',
      reportOutcome: async () => true,
    };
    await Promise.all([recoverSteps(around), recoverSteps(around)]);
    expect(home.runningFiles()).toEqual([]);
  });

  test('leaves the steps of a live worker alone', async () => {
    const running = home.run('echo x >ready; until [ -e go ]; do sleep 0.05; done');
    await eventually('the step runs', () => readText(file('ready')));
    expect(await recovered()).toEqual([]);
    expect(home.runningFiles()).toHaveLength(1);
    const [name] = readdirSync(join(home.home, 'running-steps'));
    expect(readText(join(home.home, 'running-steps', name!))).not.toContain('until');
    await home.run('touch go', { step: 2 });
    expect((await running).exitCode).toBe(0);
  });
});
