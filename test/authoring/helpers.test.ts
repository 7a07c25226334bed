import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { DETAILS_MEMO } from '../../operations/wire/state.js';
import { run } from '../cli/commands.js';
import { Caller } from '../operation-tools/support.js';
import { eventually } from '../stack/cli-process.js';
import { JobsClient } from '../support/jobs.js';
import { PROCESSES_MS } from '../support/limits.js';
import { runsOf } from '../support/runs-of.js';
import { TestStack } from '../support/test-stack.js';

jest.setTimeout(PROCESSES_MS);
let parts: TestStack;
const folder = mkdtempSync(join(tmpdir(), 'longhaul-authoring-'));
beforeAll(async () => {
  // Its own project, whose workflows have maximum durations of seconds.
  parts = await TestStack.start({
    LONGHAUL_PROJECT: resolve('test/authoring/project'),
    LONGHAUL_SHIPPED_TOOLS: 'false',
  });
}, PROCESSES_MS);
afterAll(async () => {
  await parts?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const closed = (taskId: string) =>
  parts.client.until(taskId, (task) => !['working', 'input_required'].includes(task.status));
const textOf = (task: { result: { content: { text: string }[] } }) => task.result.content[0]!.text;

describe('requestInput', () => {
  test('gives the default once the time is up, and the record and the history say whether somebody answered', async () => {
    const caller = new Caller(parts.client);
    const jobs = new JobsClient(parts.base);
    const answersOf = async (token: string) => {
      const { body } = await jobs.get(`/v1/jobs/${token}`);
      const { answers } = await caller.get('operation_get', { token });
      expect(body.answers).toEqual(answers);
      const { _meta } = await parts.client.get(token);
      expect(_meta['longhaul/answers']).toEqual(
        answers.map(({ is_default, ...rest }: any) => ({
          ...rest,
          ...(is_default ? { isDefault: true } : {}),
        })),
      );
      return answers;
    };
    const at = expect.stringMatching(/^\d{4}-.*Z$/);
    const applied = { state: 'applied', at };
    const given = { ...applied, id: expect.any(String) };

    const defaulted = await parts.client.start('ask_in_time', { timeoutSeconds: 1, otherwise: true });
    expect((await closed(defaulted)).result.structuredContent).toEqual({
      action: 'accept',
      content: { approve: true, by: 'nobody' },
      isDefault: true,
    });
    expect(await answersOf(defaulted)).toEqual([
      { key: 'input-1', action: 'accept', is_default: true, ...applied },
    ]);
    expect(textOf({ result: await caller.call('operation_get', { token: defaulted }) })).toContain(
      'No answer came in time, so the default was used: input-1.',
    );
    expect((await run(parts, ['status', defaulted])).stdout).toMatch(
      /answered +input-1: the default, since nobody answered in time\n/,
    );
    const { workflow } = await parts.temporal();
    const { events } = await workflow.getHandle(defaulted).fetchHistory();
    const memos = events!.flatMap((event) => {
      const payload = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields?.[DETAILS_MEMO];
      return payload ? [JSON.parse(Buffer.from(payload.data!).toString())] : [];
    });
    expect(memos.at(-1).answers).toEqual([{ key: 'input-1', action: 'accept', isDefault: true, at }]);

    const asked = await parts.client.start('ask_in_time', { timeoutSeconds: 600, otherwise: true });
    await parts.client.until(asked, 'input_required');
    await parts.client.answer(asked, 'input-1', { action: 'cancel' });
    await parts.client.until(asked, (task) => 'input-2' in (task.inputRequests ?? {}));
    // The same content as the default's.
    await parts.client.answer(asked, 'input-2', {
      action: 'accept',
      content: { approve: true, by: 'nobody' },
    });
    expect((await closed(asked)).result.structuredContent).toEqual({
      action: 'accept',
      content: { approve: true, by: 'nobody' },
    });
    expect(await answersOf(asked)).toEqual([
      { key: 'input-1', action: 'cancel', ...given },
      { key: 'input-2', action: 'accept', ...given },
    ]);
    expect((await run(parts, ['status', asked])).stdout).toMatch(
      /answered +input-1: cancel; input-2: accept\n/,
    );

    const inPart = await parts.client.start('ask_in_part');
    const second = 'north/input-2';
    await parts.client.until(inPart, (task) => second in (task.inputRequests ?? {}));
    await parts.client.answer(inPart, second, { action: 'accept', content: { approve: true, by: 'me' } });
    const { result } = await closed(inPart);
    expect(result.structuredContent).toEqual({
      first: { action: 'accept', content: { approve: false, by: 'nobody' }, isDefault: true },
      second: { action: 'accept', content: { approve: true, by: 'me' } },
    });
    expect(await answersOf(inPart)).toEqual([
      { key: 'north/input-1', action: 'accept', is_default: true, ...applied },
      { key: second, action: 'accept', ...given },
    ]);
  });

  test('fails with InputTimeout when there is no default', async () => {
    const task = await closed(await parts.client.start('ask_in_time', { timeoutSeconds: 1 }));
    expect(task).toMatchObject({ status: 'completed', result: { isError: true } });
    expect(textOf(task).split('\n')).toContain('nobody answered in time: Approve?');
  });

  test('gives the answer with the defaults of its schema filled in', async () => {
    const taskId = await parts.client.start('ask_in_time', { timeoutSeconds: 60 });
    await parts.client.until(taskId, 'input_required');
    await parts.client.answer(taskId, 'input-1', { action: 'accept', content: { approve: true } });
    const { result } = await closed(taskId);
    expect(result.structuredContent).toEqual({
      action: 'accept',
      content: { approve: true, by: 'somebody' },
    });
  });
});

describe('cleanup', () => {
  const ledger = (name: string) => join(folder, name);
  const lines = (name: string) => readFileSync(ledger(name), 'utf8').trim().split('\n');

  test('all run after a cancel, and one that fails keeps no other from running', async () => {
    const taskId = await parts.client.start('tidy', { ledger: ledger('canceled') });
    await parts.client.until(taskId, (task) => task._meta?.['longhaul/progress']?.stage === 'wait');
    await parts.client.request('tasks/cancel', { taskId });
    expect((await closed(taskId)).status).toBe('cancelled');
    expect(lines('canceled').sort()).toEqual(['first canceled', 'last canceled']);
  });

  test('runs after a failure, and the partial result is kept', async () => {
    const task = await closed(await parts.client.start('tidy', { ledger: ledger('failed'), fails: true }));
    expect(task.result.isError).toBe(true);
    expect(textOf(task)).toContain('the disk is full');
    expect(textOf(task)).toContain('"done"');
    expect(lines('failed').sort()).toEqual(['first failed', 'last failed']);
  });

  test('runs when the maximum duration has passed, and the partial result is kept', async () => {
    const task = await closed(await parts.client.start('tidy_late', { ledger: ledger('late') }));
    expect(task).toMatchObject({ status: 'completed', result: { isError: true } });
    expect(task.result._meta['longhaul/error']).toEqual({ kind: 'timed_out', retryable: false });
    expect(textOf(task)).toContain('the work took longer than its maximum of 2 s');
    expect(textOf(task)).toContain('"done"');
    expect(lines('late').sort()).toEqual(['first timed_out', 'last timed_out']);
  });
});

describe('the maximum duration', () => {
  test('ends work that continues as new in the same moment, as timed out', async () => {
    const { client } = parts;
    const taskIds = await Promise.all(Array.from({ length: 10 }, () => client.start('punctual')));
    const tasks = await Promise.all(taskIds.map((taskId) => closed(taskId)));
    const kinds = tasks.map(({ result }) => result._meta?.['longhaul/error']?.kind);
    expect(new Set(kinds)).toEqual(new Set(['timed_out']));
  });

  test('is counted over all runs when the workflow continues as new', async () => {
    const task = await closed(await parts.client.start('restless'));
    expect(task.result._meta?.['longhaul/error']?.kind).toBe('timed_out');
  });
});

test('a workflow that continues as new stays one operation: stage, progress, partial result, creation time and used keys go along', async () => {
  const taskId = await parts.client.start('chapters');
  const before = await parts.client.until(taskId, 'input_required');
  await parts.client.answer(taskId, 'input-1', { action: 'accept', content: { go: true } });
  const after = await parts.client.until(taskId, (task) => 'input-2' in (task.inputRequests ?? {}));
  expect(after.createdAt).toBe(before.createdAt);
  expect(after._meta['longhaul/progress']).toEqual({ stage: 'first chapter', progress: 1, total: 2 });
  expect(await runsOf(await parts.temporal(), taskId)).toHaveLength(2);
  // The answer of the first run is known to the second.
  const caller = new Caller(parts.client);
  const answer = { token: taskId, key: 'input-1', content: { go: true } };
  const { answered } = await caller.get('operation_answer', answer);
  const [kept] = after._meta['longhaul/answers'];
  expect(answered).toEqual({ key: 'input-1', id: kept.id, action: 'accept', state: 'accepted' });
  await caller.refused(
    'operation_answer',
    { ...answer, content: { go: false } },
    'wrong_state',
    'was already answered',
  );
  const input = {
    ...{ key: 'input-1', answerId: kept.id },
    answer: { action: 'accept', content: { go: true } },
  };
  const handle = (await parts.temporal()).workflow.getHandle(taskId);
  await handle.executeUpdate('provide_input', { args: [input] });
  await expect(
    handle.executeUpdate('provide_input', { args: [{ ...input, answerId: 'another' }] }),
  ).rejects.toMatchObject({ cause: { type: 'already_answered' } });
  await parts.client.answer(taskId, 'input-2', { action: 'accept', content: { go: true } });
  const done = await closed(taskId);
  expect(done.createdAt).toBe(before.createdAt);
  expect(done.result.structuredContent).toEqual({ chapters: 2 });
});

describe('a child workflow', () => {
  const childStatus = async (id: string) => {
    const { workflow } = await parts.temporal();
    return (await workflow.getHandle(id).describe()).status.name;
  };

  test('is cancelled, not terminated, when its parent ends before it', async () => {
    const task = await closed(await parts.client.start('parent', { waits: false }));
    const { child } = task.result.structuredContent;
    await eventually('the child is closed', async () => (await childStatus(child)) !== 'RUNNING');
    expect(await childStatus(child)).toBe('CANCELLED');
  });

  test('is cancelled with its parent', async () => {
    const taskId = await parts.client.start('parent', { waits: true });
    const { _meta } = await parts.client.until(taskId, (task) => task._meta?.['longhaul/progress']?.stage);
    await parts.client.request('tasks/cancel', { taskId });
    expect((await closed(taskId)).status).toBe('cancelled');
    expect(await childStatus(_meta['longhaul/progress'].stage)).toBe('CANCELLED');
  });
});

test('arguments are completed with their defaults, also in lists', async () => {
  const { result } = await parts.client
    .with({})
    .request('tools/call', { name: 'order', arguments: { size: 'small', lines: [{ item: 'tea' }] } });
  expect(result.structuredContent.result).toEqual({
    size: 'small',
    lines: [{ item: 'tea', count: 1 }],
    express: false,
  });
});
