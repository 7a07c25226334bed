/** The test kit, used as the author of tools does. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { isRunning } from '../stack/cli-process.js';
import { OUTAGE_MS, STACK_MS } from '../support/limits.js';
import { TestToolEnvironment } from '../support/test-environment.js';
import { processesOf } from './processes.js';

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
