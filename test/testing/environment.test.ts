/** The test kit, used as the author of tools does. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { linesOf } from '../pipelines/support.js';
import { eventually, isRunning } from '../stack/cli-process.js';
import { OUTAGE_MS, STACK_MS } from '../support/limits.js';
import { TestToolEnvironment } from '../support/test-environment.js';

jest.setTimeout(OUTAGE_MS);
const project = resolve('test/testing/project');
const folder = mkdtempSync(join(tmpdir(), 'longhaul-kit-'));
const ARGUMENTS = { sites: 2, surveyor: 'Ada' };

let environment: TestToolEnvironment;
beforeAll(async () => {
  environment = await TestToolEnvironment.create({
    project,
    settings: { shippedTools: false },
    environment: { SURVEY_REGION: 'north' },
  });
}, STACK_MS);
afterAll(async () => {
  await environment?.close();
  rmSync(folder, { recursive: true, force: true });
});

const accept = { action: 'accept', content: { approve: true } } as const;

/** PIDs of the environment's worker and server, by the home that their command lines name. */
async function processesOf({ client, taskQueue }: TestToolEnvironment): Promise<number[]> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: 'default',
    taskQueue: { name: taskQueue },
    taskQueueType: 1,
  });
  return [...new Set(pollers.map(({ identity }) => Number(/\d+/.exec(identity!)![0])))];
}

describe('an operation', () => {
  test('is started, watched, answered, and gives its result, log, partial result and files', async () => {
    const operation = await environment.start('survey', ARGUMENTS);
    const question = await operation.question();
    expect(question).toMatchObject({ key: 'input-1', message: '2 sites are counted. Approve?' });
    expect(question.schema).toMatchObject({ properties: { approve: { type: 'boolean' } } });
    expect(await operation.describe()).toMatchObject({
      status: 'input_required',
      stage: 'approve',
      progress: { progress: 2, total: 2 },
      questions: [question],
      answers: [],
    });
    expect(await operation.partial()).toEqual({ counted: 2 });
    await operation.answer(accept);
    expect(await operation.result()).toEqual({
      approved: true,
      uri: `longhaul://operations/${operation.token}/artifacts/report.txt`,
    });
    const states = [];
    for await (const state of operation.watch()) states.push(state);
    expect(states.at(-1)).toMatchObject({
      status: 'completed',
      answers: [{ key: 'input-1', action: 'accept' }],
    });
    const log = await operation.logs();
    expect(log.map((line) => line.slice(25))).toEqual([
      'INFO activity countSite: site counted {"site":1}',
      'INFO activity countSite: site counted {"site":2}',
      'INFO workflow survey: counted {"sites":2}',
    ]);
    expect(await operation.artifacts()).toEqual([
      { name: 'report.txt', contentType: 'text/plain; charset=utf-8', bytes: expect.any(Number) },
    ]);
    expect((await operation.artifact('report.txt')).toString()).toBe('2 sites, by Ada, in north\n');
    expect(await operation.cancel()).toBe(false);
  });

  test('is declined, asked again after a dismissal, and cancelled', async () => {
    const operation = await environment.start('survey', ARGUMENTS);
    await operation.question();
    await operation.answer({ action: 'cancel' });
    await operation.question({ key: 'input-2' });
    await operation.answer({ action: 'decline' }, 'input-2');
    expect(await operation.result()).toMatchObject({ approved: false });

    const other = await environment.start('survey', ARGUMENTS);
    await other.question();
    expect(await other.cancel('no time')).toBe(true);
    expect(await other.closed()).toMatchObject({ status: 'canceled', statusMessage: 'canceled: no time' });
    await expect(other.result()).rejects.toMatchObject({
      name: 'OperationFailedError',
      kind: 'canceled',
      partial: { counted: 2 },
    });
  });

  test('that fails gives the type of its failure and what it had finished', async () => {
    await expect(environment.call('survey', { ...ARGUMENTS, end: 'fail' })).rejects.toMatchObject({
      name: 'OperationFailedError',
      status: 'failed',
      kind: 'failed',
      type: 'SurveyVoid',
      message: 'the survey is void',
      retryable: false,
      partial: { counted: 2 },
    });
  });

  test('is asked for arguments before it starts', async () => {
    const operation = await environment.start('survey', { sites: 1 }, { askFor: { surveyor: 'Grace' } });
    await operation.question();
    await operation.answer(accept);
    await operation.result();
    expect((await operation.artifact('report.txt')).toString()).toContain('by Grace');
  });

  test('continues after a kill -9 of its worker', async () => {
    const operation = await environment.start('survey', ARGUMENTS);
    await operation.question();
    const [pid] = await processesOf(environment);
    expect(isRunning(pid!)).toBe(true);
    await environment.killWorker();
    expect(isRunning(pid!)).toBe(false);
    await environment.startWorker();
    await operation.answer(accept);
    expect(await operation.result()).toMatchObject({ approved: true });
  });
});

describe('a history', () => {
  test('replays, as it is and from a file; a change in the order of steps is refused', async () => {
    const operation = await environment.start('survey', ARGUMENTS);
    await operation.question();
    await operation.answer(accept);
    await operation.result();
    const history = await operation.fetchHistory();
    await environment.replay(history);
    const path = join(folder, 'histories/survey.json');
    await operation.saveHistory(path);
    await environment.replay(path);

    const scheduled = history.events!.find((event) => event.activityTaskScheduledEventAttributes)!;
    scheduled.activityTaskScheduledEventAttributes!.activityType!.name = 'another';
    await expect(environment.replay(history)).rejects.toMatchObject({
      name: 'ReplayError',
      isNondeterministic: true,
      message: expect.stringContaining('another'),
    });
  });
});

test('environments run side by side on Temporal that is shared or their own, and leave nothing behind', async () => {
  const embedded = await TestToolEnvironment.create({ project, temporal: 'embedded' });
  const shared = await TestToolEnvironment.create({ project });
  expect(shared.address).toBe(process.env['TEMPORAL_ADDRESS']);
  expect(embedded.address).not.toBe(shared.address);
  expect(new Set([embedded, shared, environment].map(({ taskQueue }) => taskQueue)).size).toBe(3);
  const tokens: string[] = [];
  for (const one of [embedded, shared]) {
    const operation = await one.start('survey', ARGUMENTS);
    await operation.question();
    tokens.push(operation.token);
  }
  const pids = [...(await processesOf(embedded)), ...(await processesOf(shared))];
  expect(pids).toHaveLength(2);
  const homes = [embedded.home, shared.home];
  for (const home of homes) expect(existsSync(home)).toBe(true);
  await Promise.all([embedded.close(), shared[Symbol.asyncDispose]()]);
  // Closing again is fine.
  await shared.close();
  expect(pids.filter(isRunning)).toEqual([]);
  for (const home of homes) expect(existsSync(home)).toBe(false);
  await eventually('Temporal has forgotten the operation', () =>
    environment.client.workflow
      .getHandle(tokens[1]!)
      .describe()
      .then(
        () => false,
        (error: Error) => error.name === 'WorkflowNotFoundError',
      ),
  );
});

test.each(['killWorker', 'stopWorker'] as const)(
  'a step of a pipeline continues through %s, and ends with its environment',
  async (end) => {
    const pipelines = mkdtempSync(join(folder, 'pipelines-'));
    const pids = join(pipelines, 'pids');
    writeFileSync(
      join(pipelines, 'wait.yml'),
      `jobs:
  work:
    steps:
      - run: |
          echo $PPID >> ${pids}; echo $$ >> ${pids}
          while [ ! -e ${pipelines}/go ]; do sleep 0.1; done
          echo "it continued"
      - run: echo $PPID >> ${pids}; echo $$ >> ${pids}; trap '' TERM; while sleep 0.1; do :; done
`,
    );
    const one = await TestToolEnvironment.create({
      project,
      settings: { shippedTools: false, pipelineFolders: [pipelines] },
    });
    try {
      const operation = await one.start('wait');
      const step = () => linesOf(pids).map(Number);
      await eventually('the step runs', () => step().length === 2);
      await one[end]();
      expect(step().filter(isRunning)).toEqual(step());
      await one.startWorker();
      writeFileSync(join(pipelines, 'go'), '');
      await eventually('the next step runs', () => step().length === 4);
      expect(await operation.logs('work/1')).toEqual(['it continued']);
      expect(step().filter(isRunning)).toEqual(step().slice(2));
      await one[end]();
    } finally {
      await one.close();
    }
    expect(linesOf(pids).map(Number).filter(isRunning)).toEqual([]);
    expect(existsSync(one.home)).toBe(false);
  },
);
