import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { eventually, isRunning, kill, TestHome } from '../stack/cli-process.js';
import { forAllTests, inSetUp, temporaryFolder } from '../support/for-all-tests.js';
import { PROCESSES_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { namedTemporal, namedTemporalPid } from '../support/run-temporal.js';
import { FIXTURES } from '../support/test-stack.js';

const STEPS = 5;
const folder = temporaryFolder('ledger');

/** On the run's Temporal if that is a named one, else on an embedded Temporal of its own. */
const up = () => home.up({ LONGHAUL_PROJECT: FIXTURES, ...namedTemporal() });
const temporalPid = () => (namedTemporal() ? namedTemporalPid() : home.parts().temporal);

// Own stack: the tests kill its processes.
const home = await forAllTests(TestHome.create());
await inSetUp(up());
const client = new WireClient(`${home.url}/mcp`);

/** Lines of the ledger that say how often a step started and ended. */
function ledgerOf(name: string): { started: number[]; done: number[] } {
  const lines = readFileSync(join(folder, name), 'utf8').trim().split('\n');
  const of = (word: string) =>
    lines.filter((line) => line.startsWith(word)).map((line) => Number(line.split(' ')[1]));
  return { started: of('start'), done: of('done') };
}

/** Starts the job and waits until its third step is under way: two are finished. */
async function startAndReachThird(name: string): Promise<string> {
  const taskId = await client.start('step_ledger', {
    ledger: join(folder, name),
    steps: STEPS,
    secondsPerStep: 1.5,
  });
  await client.until(taskId, (task) => task._meta?.['longhaul/progress']?.stage === 'step 3');
  await eventually('the third step has started', () => ledgerOf(name).started.includes(3));
  return taskId;
}

/** The same token stays valid up to the result; work that was finished before the kill does not run again. */
async function expectGoesOn(taskId: string, name: string): Promise<void> {
  const done = await client.until(taskId, 'completed', PROCESSES_MS);
  expect(done.result.structuredContent).toEqual({ steps: [1, 2, 3, 4, 5] });
  const { started, done: ended } = ledgerOf(name);
  expect(started.filter((step) => step < 3)).toEqual([1, 2]);
  expect(ended.filter((step) => step !== 3)).toEqual([1, 2, 4, 5]);
}

describe('kill -9 in the middle of a job', () => {
  test('of the MCP server: the job does not notice, and its token stays valid', async () => {
    const taskId = await startAndReachThird('server');
    const { server } = home.parts();
    kill(server);
    await eventually('it is gone', () => !isRunning(server));
    await expectGoesOn(taskId, 'server');
    expect(ledgerOf('server').started).toEqual([1, 2, 3, 4, 5]);
  });

  test('of the worker: only the step that was running runs again', async () => {
    const taskId = await startAndReachThird('worker');
    kill(home.parts().worker);
    await expectGoesOn(taskId, 'worker');
    expect(ledgerOf('worker').started).toEqual([1, 2, 3, 3, 4, 5]);
  });

  test('of Temporal: the job continues where it was', async () => {
    const taskId = await startAndReachThird('temporal');
    kill(temporalPid());
    await expectGoesOn(taskId, 'temporal');
  });

  test('of everything at once: after the next start the job continues under its token', async () => {
    const taskId = await startAndReachThird('all');
    const { worker, server } = home.parts();
    const temporal = temporalPid();
    const supervisor = home.state().supervisorPid!;
    for (const pid of [supervisor, temporal, worker, server]) kill(pid);
    await eventually('all are gone', () =>
      [supervisor, temporal, worker, server].every((pid) => !isRunning(pid)),
    );
    await up();
    await expectGoesOn(taskId, 'all');
  });
});
