/** Whatever ends a step reaches it also after its worker was killed: through the next worker, or without any. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { processIdentity } from '../../platform/process-identity.js';
import { eventually, kill } from '../stack/cli-process.js';
import { OUTAGE_MS, PROCESSES_MS } from '../support/limits.js';
import type { Part } from '../support/test-stack.js';
import { LEDGER, PipelineProject, processesOn, textOf } from './support.js';

jest.setTimeout(OUTAGE_MS);

/** A step that ends as the test lets it go, and cleans up after SIGTERM. */
const holding = (keys: string) => `
      - name: hold on
        ${keys}
        run: |
          trap 'echo cleaned >> "$INPUT_LEDGER"; exit 1' TERM
          echo started >> "$INPUT_LEDGER"
          echo "holding on"
          until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done
          echo ended >> "$INPUT_LEDGER"
`;
const pipeline = (step: string, file = '') => `${file}\n${LEDGER}\njobs:\n  work:\n    steps:${step}`;
/** Its time-out, as the pipeline's, passes a while after its worker was killed, or once the next one has adopted it. */
const PIPELINES = {
  careful: pipeline(holding('idempotent: false')),
  repeatable: pipeline(holding('idempotent: true')),
  limited: pipeline(holding('timeout-minutes: 0.4')),
  short: pipeline(holding(''), 'timeout-minutes: 0.4'),
};
const MAXIMUM_MS = 24_000;

let project: PipelineProject;
let home: string;
let worker: Part;
/** Name of the test's ledger. */
let ledger: string;
let tests = 0;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'longhaul-adopted-'));
  // Its own worker, which each test kills, and a home for the steps that it adopts.
  project = await PipelineProject.start(PIPELINES, { LONGHAUL_HOME: home });
  worker = project.parts.parts.find(({ process }) => process.spawnargs.at(-1) === 'worker')!;
}, PROCESSES_MS);
beforeEach(() => {
  tests += 1;
  ledger = `ledger-${tests}`;
  if (!project.parts.parts.includes(worker)) worker = project.parts.worker();
});
afterEach(() => {
  for (const pid of running()) kill(pid);
});
afterAll(async () => {
  await project?.stop();
  rmSync(home, { recursive: true, force: true });
});

const running = () => processesOn(join(project.ledgers, ledger));

/** Starts a pipeline, and kills the worker once its step runs. */
async function orphan(tool: string): Promise<string> {
  const token = await project.startOn(tool, ledger);
  await project.reaches(ledger, 'started');
  await worker.end('SIGKILL');
  return token;
}

/** Starts a worker; resolves once it has adopted the step. */
async function adopt(): Promise<void> {
  worker = project.parts.worker();
  await eventually('the step is adopted', () => worker.output().includes('adopted a step'));
}

async function expectNothingLeft(lines: string[]): Promise<void> {
  expect(project.lines(ledger)).toEqual(lines);
  await eventually('no process of the step is left', () => running().length === 0);
  await eventually('its end is reported', () => readdirSync(join(home, 'running-steps')).length === 0);
}

test('a cancel of the operation: the step cleans up', async () => {
  const token = await orphan('careful');
  await adopt();
  await project.client.request('tasks/cancel', { taskId: token });
  await project.client.until(token, 'cancelled');
  await expectNothingLeft(['started', 'cleaned']);
});

test('a cancel while there is no worker: the step cleans up once there is one', async () => {
  const token = await orphan('careful');
  await project.client.request('tasks/cancel', { taskId: token });
  expect(running()).not.toEqual([]);
  await adopt();
  await project.client.until(token, 'cancelled');
  await expectNothingLeft(['started', 'cleaned']);
});

test("the step's timeout-minutes", async () => {
  const token = await orphan('limited');
  await adopt();
  const result = await project.finish(token);
  expect(textOf(result)).toContain('it took longer than its timeout-minutes of 0.4 min');
  expect(textOf(result)).toContain('holding on');
  await expectNothingLeft(['started', 'cleaned']);
});

test("the step's timeout-minutes, while there is no worker: its launcher ends it", async () => {
  const token = await orphan('limited');
  await eventually('it has ended', () => running().length === 0);
  expect(project.lines(ledger)).toEqual(['started', 'cleaned']);
  await adopt();
  const result = await project.finish(token);
  expect(textOf(result)).toContain('it took longer than its timeout-minutes of 0.4 min');
  await expectNothingLeft(['started', 'cleaned']);
});

test("the pipeline's timeout-minutes", async () => {
  const token = await orphan('short');
  await adopt();
  const result = await project.finish(token);
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain('longer than its maximum');
  await expectNothingLeft(['started', 'cleaned']);
});

test("the pipeline's timeout-minutes, while there is no worker: the next one ends the step", async () => {
  const token = await orphan('short');
  const { startTime } = await (await project.parts.temporal()).workflow.getHandle(token).describe();
  await eventually('it has passed', () => Date.now() - startTime.getTime() > MAXIMUM_MS + 1_000);
  expect(project.lines(ledger)).toEqual(['started']);
  await adopt();
  const result = await project.finish(token);
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain('longer than its maximum');
  await expectNothingLeft(['started', 'cleaned']);
});

test('an operator who terminates the workflow while there is no worker', async () => {
  const token = await orphan('careful');
  await (await project.parts.temporal()).workflow.getHandle(token).terminate('by the test');
  expect(running()).not.toEqual([]);
  await adopt();
  await eventually('the step has cleaned up', () => project.lines(ledger).includes('cleaned'));
  await expectNothingLeft(['started', 'cleaned']);
});

/** Kills the step's launcher. */
function killLauncher(): void {
  const isLauncher = (pid: number) => processIdentity(pid)?.commandLine.includes('launcher.sh');
  kill(running().find(isLauncher)!);
}

test.each(['with a worker', 'without one'])(
  'kill -9 of its launcher %s: the step is asked about',
  async (when) => {
    const token = await orphan('careful');
    if (when === 'with a worker') await adopt();
    killLauncher();
    if (when === 'without one') await adopt();
    const task = await project.client.until(token, 'input_required', OUTAGE_MS);
    const [[key, question]] = Object.entries<any>(task.inputRequests) as [[string, any]];
    expect(question.params.message).toContain('the process that watched over it was killed');
    await eventually('no process of the step is left', () => running().length === 0);
    await project.client.answer(token, key, { action: 'accept', content: { decision: 'run_again' } });
    await project.reaches(ledger, 'started', 2);
    project.letGo(ledger);
    expect((await project.finish(token)).isError).toBeUndefined();
    await expectNothingLeft(['started', 'started', 'ended']);
  },
);

test('kill -9 of its launcher: an idempotent step runs again', async () => {
  const token = await orphan('repeatable');
  await adopt();
  killLauncher();
  await project.reaches(ledger, 'started', 2);
  project.letGo(ledger);
  expect((await project.finish(token)).isError).toBeUndefined();
  await expectNothingLeft(['started', 'started', 'ended']);
});
