import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { HostSteps } from '../../worker/steps/host-steps.js';
import { isLauncherAlive } from '../../worker/steps/leftovers.js';
import { signalProcess } from '../../platform/home/process-identity.js';
import { adoptSteps } from '../../worker/steps/adopt-steps.js';
import { eventually, isRunning, readText } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { COUNTING, SECRET, SECRET_ENVIRONMENT, WorkedHome } from './steps-workers.js';

jest.setTimeout(PROCESSES_MS);
let home: WorkedHome;

beforeEach(async () => {
  home = await WorkedHome.open();
});
afterEach(() => home.removeClean());

describe('what a killed worker leaves', () => {
  test('of a log that is ahead of the cursor: nothing is written twice', async () => {
    const first = await home.worker(COUNTING);
    await eventually('there is output', () => home.log().includes('line 30'));
    await first('SIGKILL');
    const cursor = JSON.parse(readText(home.journal('cursor.json')));
    expect(cursor.offset).toBeGreaterThan(60);
    // As if it had been killed between the last appends and the cursor's move: in the middle of a line.
    writeFileSync(
      home.journal('cursor.json'),
      JSON.stringify({ ...cursor, offset: cursor.offset - 60, logBytes: cursor.logBytes - 60 }),
    );
    home.letGo();
    await home.adopt();
    home.expectWholeLog();
  });

  test('of a cursor that was cut off: no output is missing', async () => {
    const first = await home.worker(COUNTING);
    await eventually('there is output', () => home.log().includes('line 30'));
    await first('SIGKILL');
    writeFileSync(home.journal('cursor.json'), '{"file":0,"off');
    home.letGo();
    await home.adopt();
    const lines = home.log().split('\n');
    for (let at = 1; at <= 30; at += 1) expect(lines).toContain(`line ${at}`);
    expect(lines.at(-2)).toMatch(/^end /);
  });

  test('of a secret that was printed in part: it is masked', async () => {
    const first = await home.worker(
      `echo x >ready; printf 'before top-sec'; until [ -e go ]; do sleep 0.05; done; printf 'ret-value after\\n'`,
      SECRET,
    );
    await eventually('what is before it is in the log', () => home.log() === 'before ');
    await first('SIGKILL');
    const { settled } = await adoptSteps(
      home.adoption({ steps: home.hostSteps({ environment: SECRET_ENVIRONMENT }) }),
    );
    home.letGo();
    await settled;
    expect(home.log()).toBe('before *** after\n');
  });

  test('is seen to run at every moment, also while its launcher handles signals', async () => {
    await home.killedWorker("trap '' TERM; echo $$ >ready; while :; do sleep 0.1; done");
    const run = { folder: home.journal('.'), stepId: '', pids: await home.launcherRecord() };
    const until = performance.now() + 800;
    const looks: boolean[] = [];
    while (performance.now() < until) {
      signalProcess(run.pids.launcher, 'SIGTERM');
      for (let look = 0; look < 200; look += 1) looks.push(isLauncherAlive(run));
    }
    expect(looks.filter((isAlive) => !isAlive)).toEqual([]);
    expect(looks.length).toBeGreaterThan(1_000);
    await home.adopt();
    expect(home.outcomes).toMatchObject([{ type: 'StepInDoubt' }]);
  });

  test('in a copy of its home is in doubt there, and its step is ended: the copy has the job', async () => {
    await home.killedWorker('echo $$ >ready; sleep 600');
    const copy = `${home.home}-copy`;
    cpSync(home.home, copy, { recursive: true, preserveTimestamps: true });
    const steps = new HostSteps({ settings: { home: copy }, storage: home.storage, graceMs: 1_000 });
    const context = home.adoption({ steps });
    const { settled } = await adoptSteps({ ...context, settings: { ...context.settings, home: copy } });
    await settled;
    expect(home.outcomes).toMatchObject([{ type: 'StepInDoubt' }]);
    expect(isRunning(await home.pidIn('ready'))).toBe(false);
    rmSync(copy, { recursive: true });
    await home.adopt();
  });

  test('in the spool is for the owner alone', async () => {
    const first = await home.worker('echo x >ready; echo out; until [ -e go ]; do sleep 0.05; done');
    await eventually('there is output', () => home.log() === 'out\n');
    const modes = await Promise.all(
      ['spool', 'spool/0', 'cursor.json'].map(async (name) => (await stat(home.journal(name))).mode & 0o777),
    );
    expect(modes).toEqual([0o700, 0o600, 0o600]);
    home.letGo();
    expect(await first('SIGCONT')).toBe('');
  });
});

describe('secrets that have changed since a step started', () => {
  const changed = { LONGHAUL_SECRET_KEY: 'another-value' };
  const script = `echo x >ready; until [ -e go ]; do sleep 0.05; done; echo "it is $KEY"; echo "a=$KEY" >>"$LONGHAUL_OUTPUT"`;

  test('are read from its launcher while that lives', async () => {
    await home.killedWorker(script, SECRET);
    const steps = home.hostSteps({ environment: changed });
    const { settled } = await adoptSteps(home.adoption({ steps }));
    home.letGo();
    await settled;
    expect(home.log()).toBe('it is ***\n');
    expect(home.outcomes).toMatchObject([{ done: { outputs: { a: '***' } } }]);
  });

  test('leave it in doubt after that: neither its log nor its outputs show anything', async () => {
    await home.killedWorker(script, SECRET);
    home.letGo();
    await eventually('it has ended', () => existsSync(home.journal('exit.json')));
    await eventually('its launcher has', async () => (await home.leftovers()).length === 0);
    const steps = home.hostSteps({ environment: changed });
    await home.adopt({ steps });
    expect(home.log()).toMatch(/^--- the step's secrets have changed since it started: .* is not shown\n$/);
    expect(home.outcomes).toMatchObject([
      { type: 'StepInDoubt', message: expect.stringContaining("can't be masked"), trouble: { outputs: {} } },
    ]);
    expect(JSON.stringify(home.outcomes)).not.toContain('top-secret-value');
  });
});
