import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { killLeftovers } from '../../worker/steps/leftovers.js';
import { runningSteps, type FoundStep } from '../../worker/steps/running.js';
import { adoptSteps } from '../../worker/steps/adopt-steps.js';
import { eventually, isRunning, kill, readText } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { COUNT, COUNTING, WorkedHome } from './steps-workers.js';

jest.setTimeout(PROCESSES_MS);
let home: WorkedHome;

beforeEach(async () => {
  home = await WorkedHome.open();
});
afterEach(() => home.removeClean());

describe('a step without a worker', () => {
  test('that has ended is reported by the next one, with all that it printed', async () => {
    const first = await home.worker(`${COUNTING}; exit 3`);
    await first('SIGKILL');
    home.letGo();
    await eventually('it has ended', () => existsSync(home.journal('exit.json')));
    await home.adopt();
    const [outcome] = home.outcomes;
    expect(outcome).toMatchObject({ type: 'StepFailed', trouble: { exitCode: 3 } });
    expect(outcome.trouble.lastLines.at(-1)).toMatch(/^end \d+$/);
    home.expectWholeLog();
  });

  test('is followed by the attempt that Temporal starts meanwhile, and not run again', async () => {
    await home.killedWorker(COUNTING);
    const second = home.run(COUNT, {}, { attempt: 2 });
    const [{ stepId }] = (await runningSteps(home.home)) as [FoundStep];
    await eventually('it follows', () => home.steps.isAttended(stepId));
    expect((await adoptSteps(home.adoption())).adopted).toEqual([]);
    home.letGo();
    expect(await second).toEqual({ exitCode: 0, outputs: {} });
    expect(home.outcomes).toEqual([]);
    home.expectWholeLog();
    expect(home.runs()).toBe(1);
  });

  test('that was recorded but never started starts with the next attempt, and nobody is asked', async () => {
    await home.killedWorker('echo $$ >ready; sleep 600');
    const { stepId } = (await runningSteps(home.home))[0]!;
    await killLeftovers({ folder: home.journal('.'), stepId, pids: undefined });
    // As if the worker had been killed before it could create the launcher.
    for (const name of ['how', 'launcher.json']) rmSync(home.journal(name));
    await home.adopt();
    expect(home.outcomes).toMatchObject([{ type: 'StepNotRun' }]);
    await home.run(COUNT);
    expect(home.runs()).toBe(1);
  });

  test('whose worker was killed before the journal had its start starts again, and nobody is asked', async () => {
    await home.killedWorker('echo $$ >ready; sleep 600');
    const [{ stepId, file }] = (await runningSteps(home.home)) as [FoundStep];
    await killLeftovers({ folder: home.journal('.'), stepId, pids: undefined });
    rmSync(home.journal('start.json'));
    const record = join(home.home, 'running-steps', file);
    const running = JSON.parse(readText(record)) as object;
    // A record that a start has gone beyond: the step may have removed its journal.
    await home.adopt();
    expect(home.outcomes).toMatchObject([{ type: 'StepInDoubt' }]);
    writeFileSync(record, JSON.stringify({ ...running, isStarting: true }));
    await home.adopt();
    expect(home.outcomes).toMatchObject([{ type: 'StepInDoubt' }, { type: 'StepNotRun' }]);
    await home.run(COUNT);
    expect(home.runs()).toBe(1);
  });

  test('that keeps printing waits once 64 MiB are unread, and loses nothing', async () => {
    const first = await home.worker(
      `echo x >ready; until [ -e more ]; do sleep 0.05; done; seq 1 12000000; echo end >ended`,
    );
    await first('SIGKILL');
    writeFileSync(home.file('more'), '');
    const spool = () => readdirSync(home.journal('spool')).filter((name) => /^\d+$/.test(name)).length;
    await eventually('the spool is full', () => spool() === 32, PROCESSES_MS);
    expect(existsSync(home.file('ended'))).toBe(false);
    await home.adopt();
    expect(home.outcomes).toEqual([{ token: 'dG9rZW4=', done: { exitCode: 0, outputs: {} } }]);
    const log = home.log();
    expect(log).toHaveLength(96_888_897);
    expect(log.endsWith('11999999\n12000000\n')).toBe(true);
    expect(existsSync(home.journal('spool'))).toBe(false);
  });

  test.each([
    ['whose attempt has timed out', { isTimedOut: true }],
    ['whose workflow an operator has paused', { isPaused: true }],
  ])('%s runs on until the next attempt takes it', async (_what, temporal) => {
    await home.killedWorker(COUNTING);
    await home.adopt(temporal);
    expect(home.steps.adoptedCount).toBe(0);
    // A worker looks again and again.
    await home.adopt(temporal);
    const next = home.run(COUNT);
    home.letGo();
    expect(await next).toEqual({ exitCode: 0, outputs: {} });
    expect(home.outcomes).toEqual([]);
    home.expectWholeLog();
    expect(home.runs()).toBe(1);
  });

  test('ends when its workspace is removed', async () => {
    await home.killedWorker('echo $$ >ready; sleep 600');
    const pid = await home.pidIn('ready');
    rmSync(home.paths.folder, { recursive: true, force: true });
    await eventually('it has ended', () => !isRunning(pid));
    await home.adopt();
    expect(home.outcomes).toMatchObject([{ type: 'StepInDoubt' }]);
  });

  test('whose launcher is stopped (SIGSTOP) is ended by a cancel all the same', async () => {
    await home.killedWorker('echo $PPID >launcher; echo $$ >ready; sleep 600');
    process.kill(await home.pidIn('launcher'), 'SIGSTOP');
    await home.adopt({ isCanceled: true });
    expect(home.outcomes).toEqual([{ token: 'dG9rZW4=', type: 'canceled' }]);
  });

  test.each([
    ['of another boot of the host', { boot: 'an earlier one' }, 'its host was restarted'],
    ['whose PIDs other processes have by now', {}, 'is in doubt'],
  ])('%s is in doubt, and no process with one of its PIDs is touched', async (_what, changed, reason) => {
    await home.killedWorker('echo $$ >ready; sleep 600');
    const { launcher, ...record } = await home.launcherRecord();
    kill(launcher);
    kill(-(await home.pidIn('ready')));
    const stranger = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    const theirs = { ...record, ...changed, launcher: stranger.pid, step: stranger.pid };
    writeFileSync(home.journal('launcher.json'), JSON.stringify(theirs));
    await home.adopt();
    expect(home.outcomes).toMatchObject([{ type: 'StepInDoubt', message: expect.stringContaining(reason) }]);
    expect(isRunning(stranger.pid!)).toBe(true);
    stranger.kill('SIGKILL');
  });

  test('is adopted once by two workers that come at the same time', async () => {
    await home.killedWorker(COUNTING);
    // Two processes: within one, the second finds the first one's work.
    const theirs = home.adoptElsewhere();
    const { adopted, settled } = await adoptSteps(home.adoption());
    home.letGo();
    await settled;
    expect([adopted.length, await theirs]).toEqual(
      expect.arrayContaining(adopted.length ? [1, '0'] : [0, '1']),
    );
    home.expectWholeLog();
  });
});

test('kill -9 of a worker ends its step by the setting, and it is in doubt', async () => {
  await home.killedWorker('echo $$ >ready; echo half; sleep 600', {}, true);
  const pid = await home.pidIn('ready');
  await eventually('the launcher has ended the step', () => !isRunning(pid));
  await home.adopt();
  expect(home.outcomes).toMatchObject([
    {
      type: 'StepInDoubt',
      message: expect.stringContaining('its worker went away'),
      trouble: { lastLines: ['half'] },
    },
  ]);
});

test('a step of a live worker is left alone', async () => {
  const running = home.run('echo x >ready; until [ -e go ]; do sleep 0.05; done');
  await eventually('the step runs', () => readText(home.file('ready')));
  expect((await adoptSteps(home.adoption())).adopted).toEqual([]);
  expect(home.runningFiles()).toHaveLength(1);
  expect(readFileSync(join(home.home, 'running-steps', home.runningFiles()[0]!), 'utf8')).not.toContain(
    'until',
  );
  await home.run('touch go', { step: 2 });
  expect((await running).exitCode).toBe(0);
});
