import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TASKS } from '../support/mcp.js';
import { FIXTURES, TestStack } from '../support/test-stack.js';
import { Caller, linksOf, textOf } from './support.js';

/** A tool that nobody else has: cancelling all of its operations ends no other test's. */
const HELD = `held_${randomUUID().replaceAll('-', '')}`;
const HELD_PIPELINE = `
name: ${HELD}
description: Waits for an approval.
jobs: { only: { steps: [{ name: go, run: 'true', approval: { message: Go? } }] } }
`;

let parts: TestStack;
let caller: Caller;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longhaul-held-'));
  await writeFile(join(folder, 'held.yml'), HELD_PIPELINE);
  parts = await TestStack.start({
    LONGHAUL_PIPELINE_FOLDERS: [join(FIXTURES, 'pipelines'), folder].join(delimiter),
  });
  caller = new Caller(parts.client);
}, PROCESSES_MS);
afterAll(async () => {
  await parts?.stop();
  await rm(folder, { recursive: true });
});

const asking = async (tool = 'confirm_delete', args: object = { filename: 'old.csv' }) => {
  const token = await caller.start(tool, args);
  await eventually(
    'it asks',
    async () => (await caller.get('operation_get', { token })).status === 'input_required',
  );
  return token;
};

test('are listed behind the long tools, and say truly what they do', async () => {
  const tools = await caller.tools();
  const own = tools.filter(({ name }) => name.startsWith('operation_'));
  expect(tools.slice(-own.length)).toEqual(own);
  expect(Object.fromEntries(own.map(({ name, annotations }) => [name, annotations]))).toMatchObject({
    operation_get: { readOnlyHint: true },
    operation_list: { readOnlyHint: true },
    operation_answer: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    operation_cancel: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    operation_resume: { readOnlyHint: false, idempotentHint: true },
  });
  for (const { inputSchema, outputSchema } of own) {
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(outputSchema).toMatchObject({ type: 'object' });
  }
});

describe('operation_get', () => {
  test('summary says where it stands and what to do next, and has the result in the end', async () => {
    const token = await caller.start('slow_compute', { seconds: 2, label: 'x' });
    const open = await caller.call('operation_get', { token });
    expect(open.structuredContent).toMatchObject({
      token,
      tool: 'slow_compute',
      next_action: { tool: 'operation_get', args: { token }, status_path: 'status' },
    });
    expect(['queued', 'running']).toContain(open.structuredContent.status);
    expect(textOf(open)).toContain(token);
    expect(textOf(open)).toContain(`operation_get ${JSON.stringify({ token })}`);
    const done = await caller.settled(token);
    expect(done).toMatchObject({ status: 'completed', result: { label: 'x' } });
    expect(done).not.toHaveProperty('next_action');
  });

  test('waits no longer than its timeout, and says that the work continues', async () => {
    const token = await caller.start('slow_compute', { seconds: 60 });
    const waited = await caller.call('operation_get', { token, wait: true, timeout: 0.5 });
    expect(waited).not.toHaveProperty('isError');
    expect(waited.structuredContent).toMatchObject({
      token,
      error_kind: 'wait_timeout',
      next_action: { tool: 'operation_get', args: { token } },
    });
    await caller.get('operation_cancel', { token });
  });

  test('a wait ends with a question; a client that can show it is asked instead, and its answer counts', async () => {
    const token = await caller.start('confirm_delete', { filename: 'waited.csv' });
    expect(await caller.settled(token)).toMatchObject({
      status: 'input_required',
      next_action: { tool: 'operation_answer', args: { token } },
    });
    const person = parts.client.with({ elicitation: {} });
    const args = { name: 'operation_get', arguments: { token, wait: true } };
    const asked = (await person.request('tools/call', args)).result;
    expect(asked.resultType).toBe('input_required');
    const [key] = Object.keys(asked.inputRequests);
    const answered = await person.request('tools/call', {
      ...args,
      requestState: asked.requestState,
      inputResponses: { [key!]: { action: 'accept', content: { confirm: true } } },
    });
    expect(answered.result.structuredContent).toMatchObject({
      token,
      status: 'completed',
      result: { deleted: ['waited.csv'] },
    });
  });

  test('result is what the tool gives; before that, what to do next; of failed work an error', async () => {
    const token = await caller.start('large_values', { text: 'abc', thenWaitSeconds: 1 });
    const early = await caller.call('operation_get', { token, view: 'result' });
    expect(early).not.toHaveProperty('isError');
    expect(early.structuredContent.next_action.tool).toBe('operation_get');
    const done = await caller.call('operation_get', { token, view: 'result', wait: true });
    expect(done.structuredContent.result).toEqual({ textLength: 3, text: '' });
    expect(textOf(done)).toBe('26 characters');

    const failing = await caller.start('large_values', { failWithBytes: 10, partialBytes: 5 });
    const failed = await caller.call('operation_get', { token: failing, view: 'result', wait: true });
    expect(failed).toMatchObject({
      isError: true,
      structuredContent: { status: 'failed', partial: { text: 'ppppp' } },
    });
    expect(textOf(failed)).toContain('ffffffffff');
    expect(await caller.call('operation_get', { token: failing })).not.toHaveProperty('isError');
  });

  test('a result over 1 MiB is a link, which gives it whole', async () => {
    const token = await caller.start('large_values', { resultBytes: 1_500_000 });
    await caller.settled(token);
    for (const view of ['summary', 'result']) {
      const result = await caller.call('operation_get', { token, view });
      expect(result.structuredContent).not.toHaveProperty('result');
      const [link] = linksOf(result);
      expect(link).toMatchObject({ mimeType: 'application/json', name: 'result.json' });
      const read = await parts.client.request('resources/read', { uri: link.uri });
      expect(JSON.parse(read.result.contents[0].text).text).toHaveLength(1_500_000);
    }
  });

  test('partial is what is finished so far, marked as data', async () => {
    const token = await caller.start('large_values', { partialBytes: 100_000, thenWaitSeconds: 600 });
    const result = await eventually('it has a partial result', async () => {
      const look = await caller.call('operation_get', { token, view: 'partial' });
      return look.structuredContent.partial ? look : undefined;
    });
    expect(result.structuredContent.partial.text).toHaveLength(100_000);
    expect(textOf(result)).toContain('<data>');
    expect(textOf(result).length).toBeLessThan(20_000);
    await caller.get('operation_cancel', { token });
    const none = await caller.start('slow_compute', { seconds: 0 });
    await caller.settled(none);
    expect(textOf(await caller.call('operation_get', { token: none, view: 'partial' }))).toContain(
      'no partial result',
    );
  });

  test('a tool that is no pipeline has no steps', async () => {
    const token = await caller.start('slow_compute', { seconds: 0 });
    await caller.settled(token);
    const result = await caller.call('operation_get', { token, view: 'steps' });
    expect(textOf(result)).toContain('only pipelines and tools with child workflows have');
    expect(result.structuredContent).not.toHaveProperty('children');
  });

  test.each<[string, object, string, string]>([
    ['an unknown view', { view: 'all' }, 'invalid_arguments', 'arguments.view: expected one of "summary"'],
    ['timeout 0', { wait: true, timeout: 0 }, 'invalid_arguments', 'arguments.timeout: expected'],
    ['timeout -1', { wait: true, timeout: -1 }, 'invalid_arguments', 'arguments.timeout: expected'],
    ['timeout NaN', { wait: true, timeout: NaN }, 'invalid_arguments', 'arguments.timeout: expected'],
    ['timeout 10^9', { wait: true, timeout: 1e9 }, 'invalid_arguments', 'arguments.timeout: expected'],
    [
      'a step beside summary',
      { step: 'build/1' },
      'invalid_arguments',
      'arguments.step: belongs to the view logs',
    ],
    [
      'a tail beside steps',
      { view: 'steps', tail: 1 },
      'invalid_arguments',
      'arguments.tail: belongs to the view',
    ],
  ])('refuses %s', async (_name, args, kind, message) => {
    await caller.refused('operation_get', { token: 'any', ...args }, kind, message);
  });

  test('an unknown token is not found', async () => {
    for (const view of ['summary', 'steps', 'logs', 'result', 'partial'])
      await caller.refused(
        'operation_get',
        { token: randomUUID(), view },
        'not_found',
        'operation not found',
      );
  });
});

describe('operation_answer', () => {
  test('answers the one open question without its key; once', async () => {
    const token = await asking();
    const result = await caller.call('operation_answer', { token, content: { confirm: true } });
    expect(result.structuredContent.answered).toMatchObject({ action: 'accept', state: 'accepted' });
    expect(await caller.settled(token)).toMatchObject({ result: { deleted: ['old.csv'] } });
    const { key } = result.structuredContent.answered;
    await caller.refused('operation_answer', { token, key }, 'wrong_state', 'no question is open');
  });

  test('an answer that does not fit is refused with path, expectation, what came and the schema; the question stays', async () => {
    const token = await asking();
    const result = await caller.call('operation_answer', { token, content: { confirm: 'maybe' } });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain('confirm: expected boolean; got "maybe"');
    expect(textOf(result)).toContain('Delete old.csv?');
    expect(textOf(result)).toContain('"confirm":{"type":"boolean"');
    await caller.refused('operation_answer', { token }, 'invalid_answer', 'confirm');
    await caller.get('operation_answer', { token, action: 'decline' });
    expect(await caller.settled(token)).toMatchObject({ result: { answer: 'decline', deleted: [] } });
  });

  test('of several questions one is named', async () => {
    const token = await asking('multi_input', {});
    await eventually('both are open', async () => {
      const { input_required } = await caller.get('operation_get', { token });
      return Object.keys(input_required).length === 2;
    });
    await caller.refused(
      'operation_answer',
      { token, content: {} },
      'invalid_arguments',
      'arguments.key: expected one of',
    );
    const { input_required } = await caller.get('operation_get', { token });
    const [first, second] = Object.keys(input_required);
    await caller.get('operation_answer', { token, key: first, content: { name: 'a' } });
    await caller.refused(
      'operation_answer',
      { token, key: first, content: {} },
      'wrong_state',
      'already answered',
    );
    await caller.get('operation_answer', { token, key: second, content: { name: 'b' } });
    expect((await caller.settled(token)).result.answers).toEqual([{ name: 'a' }, { name: 'b' }]);
  });

  test('a dismissed question comes again under another key', async () => {
    const token = await asking();
    const { answered } = await caller.get('operation_answer', { token, action: 'cancel' });
    const again = await eventually('it asks again', async () => {
      const { input_required = {} } = await caller.get('operation_get', { token });
      return Object.keys(input_required).find((key) => key !== answered.key);
    });
    await caller.refused(
      'operation_answer',
      { token, key: again, action: 'decline', content: {} },
      'invalid_arguments',
      'arguments.content: expected none',
    );
    await caller.get('operation_answer', { token, key: again, action: 'decline' });
  });

  test('without an open question, and for an unknown token, it is refused', async () => {
    const token = await caller.start('slow_compute', { seconds: 60 });
    await caller.refused('operation_answer', { token, content: {} }, 'wrong_state', 'no question is open');
    await caller.refused('operation_answer', { token: randomUUID() }, 'not_found', 'operation not found');
    await caller.get('operation_cancel', { token });
  });
});

describe('operation_cancel', () => {
  test('returns once the cancel is requested, and says so when it had ended already', async () => {
    const token = await caller.start('slow_compute', { seconds: 600 });
    const cancelled = await caller.get('operation_cancel', { token, reason: 'enough' });
    expect(cancelled).toMatchObject({ token, was_open: true });
    const ended = await caller.get('operation_get', { token, wait: true });
    expect(ended).toMatchObject({ status: 'cancelled', status_message: 'canceled: enough' });
    expect(ended).not.toHaveProperty('next_action');
    const again = await caller.call('operation_cancel', { token });
    expect(again.structuredContent).toMatchObject({ status: 'cancelled', was_open: false });
    expect(textOf(again)).toContain('had already ended');

    const done = await caller.start('slow_compute', { seconds: 0 });
    await caller.settled(done);
    expect(await caller.get('operation_cancel', { token: done })).toMatchObject({
      status: 'completed',
      was_open: false,
    });
  });

  test('twice, before the work has ended, is no error', async () => {
    const token = await caller.start('slow_compute', { seconds: 600 });
    const both = await Promise.all([1, 2].map(() => caller.get('operation_cancel', { token })));
    expect(both.map(({ was_open }) => was_open)).toEqual([true, true]);
    expect((await caller.get('operation_get', { token, wait: true })).status).toBe('cancelled');
  });

  test('of a filter gives the tokens of what it cancelled', async () => {
    const tokens = await Promise.all([1, 2].map(() => caller.start(HELD)));
    const other = await caller.start('slow_compute', { seconds: 600 });
    const cancelled: string[] = [];
    await eventually('the list has them', async () => {
      const answer = await caller.get('operation_cancel', { filter: { tool: HELD } });
      expect(answer.has_more).toBe(false);
      cancelled.push(...answer.cancelled);
      return tokens.every((token) => cancelled.includes(token));
    });
    for (const token of tokens)
      expect((await caller.get('operation_get', { token, wait: true })).status).toBe('cancelled');
    expect((await caller.get('operation_cancel', { token: other })).was_open).toBe(true);
  });

  test.each<[string, object, string]>([
    ['nothing', {}, 'expected either token or filter; got neither'],
    ['both', { token: 'a', filter: { tool: 'a' } }, 'expected either token or filter; got both'],
    ['an empty filter', { filter: {} }, 'expected at least one of tool, session and status'],
    ['a closed status', { filter: { status: 'completed' } }, 'arguments.filter.status: expected one of'],
  ])('refuses %s', async (_name, args, message) => {
    await caller.refused('operation_cancel', args, 'invalid_arguments', message);
  });
});

describe('operation_list', () => {
  test('finds operations by tool, status, key and time, page by page', async () => {
    const key = randomUUID();
    const since = new Date(Date.now() - 1000).toISOString();
    const token = await caller.start('slow_compute', { seconds: 0, idempotency_key: key });
    const other = await caller.start('slow_compute', { seconds: 0 });
    await Promise.all([token, other].map((one) => caller.settled(one)));
    const find = async (args: object) => (await caller.get('operation_list', args)).operations;
    const [found] = await eventually('it is listed', async () => {
      const all = await find({ idempotency_key: key, status: 'completed' });
      return all.length === 1 ? all : undefined;
    });
    expect(found).toMatchObject({ token, tool: 'slow_compute', status: 'completed' });
    expect(await find({ idempotency_key: key, status: 'running' })).toEqual([]);
    expect(await find({ idempotency_key: key, tool: 'confirm_delete' })).toEqual([]);
    for (const time of [since, 3600])
      expect(await find({ idempotency_key: key, since: time })).toHaveLength(1);
    expect(await find({ since: new Date(Date.now() + 60_000).toISOString() })).toEqual([]);

    // Closed operations only: an open one that closes between two pages moves to the second.
    const filter = { tool: 'slow_compute', status: 'completed', limit: 1 };
    await eventually('both are listed', async () => (await find({ ...filter, limit: 2 })).length === 2);
    const page = await caller.call('operation_list', filter);
    const { next_cursor: cursor } = page.structuredContent;
    expect(textOf(page)).toContain(`operation_list ${JSON.stringify({ cursor })}`);
    const [first] = page.structuredContent.operations;
    for (const args of [
      { ...filter, cursor },
      { cursor, limit: 1 },
    ])
      expect((await find(args))[0].token).not.toBe(first.token);
    const refusal = 'cursor: expected one from an earlier page';
    for (const args of [
      { tool: 'confirm_delete', cursor },
      { cursor: `${cursor.slice(0, -2)}AA` },
      { cursor: 'x' },
    ])
      await caller.refused('operation_list', args, 'invalid_arguments', refusal);
  });

  test.each([['yesterday'], ['2026-13-01'], ['1'], ['2026-11-21T12:00']])(
    'refuses since %s',
    async (since) => {
      await caller.refused(
        'operation_list',
        { since },
        'invalid_arguments',
        'arguments.since: expected ISO 8601',
      );
    },
  );
});

test('a client with tasks is shown every tool, with and without elicitation', async () => {
  const names = async (capabilities: object) =>
    (await new Caller(parts.client, capabilities).tools())
      .map(({ name }) => name)
      .filter((name) => name.startsWith('operation_'))
      .sort();
  const all = await names({});
  expect(all).toContain('operation_answer');
  expect(await names(TASKS)).toEqual(all);
  expect(await names({ ...TASKS, elicitation: {} })).toEqual(all);
});
