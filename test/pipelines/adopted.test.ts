/** Steps whose worker has ended: whatever ends a step reaches it through the next worker, or without any. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
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
  plain: pipeline(holding('')),
  limited: pipeline(holding('timeout-minutes: 0.4')),
  short: pipeline(holding(''), 'timeout-minutes: 0.4'),
};
const MAXIMUM_MS = 24_000;

let project: PipelineProject;
let home: string;
let worker: Part;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'longhaul-adopted-'));
  // Its own worker, which each test kills, and a home for the steps that it adopts.
  project = await PipelineProject.start(PIPELINES, { LONGHAUL_HOME: home });
  worker = project.parts.parts.find(({ process }) => process.spawnargs.at(-1) === 'worker')!;
}, PROCESSES_MS);
afterAll(async () => {
  await project?.stop();
  rmSync(home, { recursive: true, force: true });
});

const running = (ledger: string) => processesOn(join(project.ledgers, ledger));

/** Starts pipelines, each with a ledger of its name, and kills the worker once their steps run. @returns their tokens */
async function orphans(...started: [tool: keyof typeof PIPELINES, ledger: string][]): Promise<string[]> {
  const tokens = await Promise.all(started.map(([tool, ledger]) => project.startOn(tool, ledger)));
  for (const [, ledger] of started) await project.reaches(ledger, 'started');
  await worker.end('SIGKILL');
  return tokens;
}

/** Starts a worker; resolves once it has adopted steps. */
async function adopt(count: number): Promise<void> {
  worker = project.parts.worker();
  await eventually('the steps are adopted', () => worker.output().split('adopted a step').length > count);
}

/** Expects that steps have cleaned up, and that nothing is left of them. */
async function expectCleaned(...ledgers: string[]): Promise<void> {
  for (const ledger of ledgers) {
    await project.reaches(ledger, 'cleaned');
    expect(project.lines(ledger)).toEqual(['started', 'cleaned']);
    await eventually('no process of the step is left', () => running(ledger).length === 0);
  }
  await eventually('their ends are reported', () => readdirSync(join(home, 'running-steps')).length === 0);
}

const cancel = (token: string) => project.client.request('tasks/cancel', { taskId: token });

async function failure(token: string): Promise<string> {
  const result = await project.finish(token);
  expect(result.isError).toBe(true);
  return textOf(result);
}

const STEP_TIMEOUT = 'it took longer than its timeout-minutes of 0.4 min';
const PIPELINE_TIMEOUT = 'longer than its maximum';

test('a worker that is stopped leaves its step to the next one, which reports its end', async () => {
  const token = await project.startOn('plain', 'stopped');
  await project.reaches('stopped', 'started');
  await worker.end('SIGTERM');
  await adopt(1);
  project.letGo('stopped');
  expect((await project.finish(token)).isError).toBeUndefined();
  expect(project.lines('stopped')).toEqual(['started', 'ended']);
});

test('with the next worker: a cancel, timeout-minutes of the step and of the pipeline', async () => {
  const [cancelled, limited, short] = (await orphans(
    ['plain', 'cancelled'],
    ['limited', 'limited'],
    ['short', 'short'],
  )) as [string, string, string];
  await adopt(3);
  await cancel(cancelled);
  await project.client.until(cancelled, 'cancelled');
  const text = await failure(limited);
  expect(text).toContain(STEP_TIMEOUT);
  expect(text).toContain('holding on');
  expect(await failure(short)).toContain(PIPELINE_TIMEOUT);
  await expectCleaned('cancelled', 'limited', 'short');
});

test('without a worker: a launcher ends its step in time, and the next worker ends the others', async () => {
  const [cancelled, terminated, limited, short] = (await orphans(
    ['plain', 'cancelled-alone'],
    ['plain', 'terminated-alone'],
    ['limited', 'limited-alone'],
    ['short', 'short-alone'],
  )) as [string, string, string, string];
  await cancel(cancelled);
  const { workflow } = await project.parts.temporal();
  await workflow.getHandle(terminated).terminate('by the test');
  await eventually('its launcher has ended it', () => running('limited-alone').length === 0);
  const { startTime } = await workflow.getHandle(short).describe();
  await eventually('the maximum has passed', () => Date.now() - startTime.getTime() > MAXIMUM_MS + 1_000);
  for (const ledger of ['cancelled-alone', 'terminated-alone', 'short-alone'])
    expect(project.lines(ledger)).toEqual(['started']);
  await adopt(4);
  await project.client.until(cancelled, 'cancelled');
  expect(await failure(limited)).toContain(STEP_TIMEOUT);
  expect(await failure(short)).toContain(PIPELINE_TIMEOUT);
  await expectCleaned('cancelled-alone', 'terminated-alone', 'limited-alone', 'short-alone');
});
