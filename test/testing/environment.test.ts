/** The test kit, used as the author of tools does, and wrongly: each wrong use is refused with its place and a remedy. */
import { readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { isRunning } from '../stack/cli-process.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { TestToolEnvironment } from '../support/test-environment.js';
import { writeFiles } from '../support/write-files.js';
import { processesOf } from './processes.js';

const project = resolve('test/testing/project');
const folder = temporaryFolder('kit');
const ARGUMENTS = { sites: 2, surveyor: 'Ada' };
let count = 0;

const environment = await forAllTests(
  TestToolEnvironment.create({
    project,
    settings: { shippedTools: false },
    environment: { SURVEY_REGION: 'north' },
  }),
);

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

test('a history replays, as it is and from a file; a change in the order of steps is refused', async () => {
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

/** A project of these files. */
function projectOf(files: Record<string, string>): string {
  const path = join(folder, String((count += 1)));
  writeFiles(path, { 'package.json': '{"type":"module"}', ...files });
  return path;
}

const tool = (name: string) => `import { defineTool } from 'longhaul';
export default defineTool({
  name: '${name}',
  description: { does: 'Does it.' },
  input: { type: 'object', properties: {} },
  estimate: { seconds: 1 },
});
`;
const workflow = (name: string) => `export async function ${name}() { return {}; }\n`;

describe('an environment is refused', () => {
  const refused = async (options: Parameters<typeof TestToolEnvironment.create>[0]) => {
    const error = await TestToolEnvironment.create(options).then(
      (created) => created.close().then(() => undefined),
      (reason: Error) => reason,
    );
    expect(error?.name).toBe('TestEnvironmentError');
    return error!.message;
  };

  test('when no Temporal answers', async () => {
    const homes = () =>
      readdirSync(tmpdir()).filter((name) => name.startsWith(`longhaul-testing-${process.pid}-`));
    const before = homes();
    expect(before).not.toEqual([]);
    expect(await refused({ project, temporal: { address: '127.0.0.1:9' } })).toMatch(
      /^no Temporal answers at 127\.0\.0\.1:9: .+\. Start it, or leave out the option temporal to have one started$/,
    );
    expect(homes()).toEqual(before);
  });

  test('for a folder without tools, and for none', async () => {
    expect(await refused({ project: folder })).toBe(
      `project ${folder}: expected a folder with files in tools/ or pipelines/; there are none`,
    );
    expect(await refused({ project: join(folder, 'nowhere') })).toMatch(/there is no such folder$/);
  });

  test('when the only file of a kind is broken, with file and line', async () => {
    const folder = projectOf({
      'tools/torn.ts': tool('torn').slice(0, 60),
      'workflows/torn.ts': workflow('torn'),
    });
    expect(await refused({ project: folder, settings: { shippedTools: false } })).toMatch(
      /^the server ended with exit code 1:[^]*tools\/torn\.ts/,
    );
  });

  test('when one file of several is broken, and when a workflow is missing', async () => {
    const folder = projectOf({
      'tools/fine.ts': tool('fine'),
      'workflows/fine.ts': workflow('fine'),
      'tools/refused.ts': tool('re fused'),
      'tools/orphan.ts': tool('orphan'),
    });
    const message = await refused({ project: folder });
    expect(message).toMatch(/^files of the project can't be used:\n/);
    expect(message).toMatch(/tools\/refused\.ts:3.*name: expected a letter/);
    expect(message).toMatch(/tools\/orphan\.ts.*no file in workflows\/ exports a workflow "orphan"/);
  });
});

describe('a call is refused', () => {
  test('of a tool that does not exist, with those that do', async () => {
    await expect(environment.start('servey', {})).rejects.toMatchObject({
      name: 'LonghaulError',
      kind: 'unknown_tool',
      message: expect.stringMatching(/^unknown tool "servey"; known are survey, /),
    });
  });

  test('with wrong arguments, and with arguments missing that the tool asks for', async () => {
    await expect(environment.call('survey', { sites: 0, surveyor: 'Ada' })).rejects.toMatchObject({
      kind: 'invalid_arguments',
      message: 'arguments.sites: expected minimum 1; got 0',
    });
    await expect(environment.call('survey', { sites: 1 })).rejects.toMatchObject({
      kind: 'invalid_arguments',
      message: 'survey asks for surveyor before it starts: give the arguments, or their answers in askFor',
    });
  });

  test('of start for a tool that answers at once', async () => {
    await expect(environment.start('operation_list', {})).rejects.toMatchObject({
      kind: 'wrong_state',
      message: 'operation_list answers at once and leaves no operation: use call()',
    });
    expect(await environment.call('operation_list')).toMatchObject({ operations: expect.any(Array) });
  });
});

describe('a handle refuses', () => {
  test('an answer that does not fit, and one to a question that is not open', async () => {
    const operation = await environment.start('survey', { sites: 1, surveyor: 'Ada' });
    await operation.question();
    await expect(operation.answer({ action: 'accept', content: { approve: 'yes' } })).rejects.toMatchObject({
      kind: 'invalid_answer',
      message: expect.stringContaining('approve'),
    });
    await expect(operation.answer({ action: 'decline' }, 'input-7')).rejects.toMatchObject({
      kind: 'wrong_state',
      message: 'the question "input-7" is not open: it was already answered, or never asked; open: input-1',
    });
    await operation.answer({ action: 'decline' });
    await operation.result();
    await expect(operation.answer({ action: 'decline' })).rejects.toMatchObject({
      kind: 'wrong_state',
      message: 'the operation is completed: no question is open',
    });
    await expect(operation.question()).rejects.toThrow(
      /^operation \w+ ended before a question is open: \{"status":"completed"/,
    );
  });

  test('an unknown token and an unknown file', async () => {
    await expect(environment.handle('none-such').describe()).rejects.toMatchObject({ kind: 'not_found' });
    await expect(environment.handle('none-such').result()).rejects.toMatchObject({ kind: 'not_found' });
    await expect(environment.handle('none-such').partial()).rejects.toMatchObject({ kind: 'not_found' });
    await expect(environment.handle('none-such').artifact('x')).rejects.toMatchObject({ kind: 'not_found' });
  });

  test('to wait for longer than its time, with the last state', async () => {
    const operation = await environment.start('survey', { sites: 1, surveyor: 'Ada' });
    await operation.question();
    const error = await operation.result({ timeoutMs: 5_000 }).catch((reason: Error) => reason);
    expect(error).toMatchObject({ name: 'WaitTimeoutError' });
    expect((error as Error).message).toMatch(
      /: timed out after 5000 ms, waiting until it has ended; last state: \{"status":"input_required"/,
    );
  });
});

test('a replay refuses what is no history, and a file that is not there', async () => {
  const path = join(folder, 'history.json');
  await expect(environment.replay(path)).rejects.toThrow(
    `${path}: expected a history as JSON; there is no such file`,
  );
  writeFileSync(path, '{}');
  await expect(environment.replay(path)).rejects.toThrow(
    `${path}: expected a history as JSON, with its events; got {}`,
  );
});

test('a worker that runs is not started a second time', async () => {
  await expect(environment.startWorker()).rejects.toThrow('the worker is already running');
});
