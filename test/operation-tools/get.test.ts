import { describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { Caller, linksOf, textOf } from './support.js';

const parts = await forAllTests(TestStack.shared());
const caller = new Caller(parts.client);

const read = (uri: string) => parts.client.request('resources/read', { uri });

describe('operation_get', () => {
  test('summary says where it stands and what to do next, and has the result in the end', async () => {
    const token = await caller.start('slow_compute', { seconds: 2, label: 'x' });
    const open = await caller.call('operation_get', { token });
    expect(open.structuredContent).toMatchObject({
      status: expect.stringMatching(/queued|running/),
      next_action: { check_after_seconds: expect.any(Number) },
    });
    expect(open.structuredContent.next_action).not.toHaveProperty('tool');
    expect(textOf(open)).toMatch(/^(queued|running).* Call again in \d+ s\.$/);
    const full = await caller.call('operation_get', { token, view: 'full' });
    expect(full.structuredContent).toMatchObject({
      token,
      tool: 'slow_compute',
      created_at: expect.any(String),
      estimate_seconds: expect.any(Number),
      next_action: { tool: 'operation_get', args: { token }, status_path: 'status' },
    });
    expect(textOf(full)).toContain(JSON.stringify(full.structuredContent));
    const done = await caller.settled(token);
    expect(done).toMatchObject({ status: 'completed', result: { label: 'x' } });
    expect(done).not.toHaveProperty('next_action');
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
    expect(early.structuredContent).toHaveProperty('next_action');
    const done = await caller.call('operation_get', { token, view: 'result', wait: true });
    expect(done.structuredContent.result).toEqual({ textLength: 3, text: '' });
    expect(textOf(done)).toContain('<data>\n26 characters\n</data>');

    const failing = await caller.start('large_values', { failWithBytes: 10, partialBytes: 5 });
    const failed = await caller.call('operation_get', { token: failing, view: 'result', wait: true });
    expect(failed).toMatchObject({
      isError: true,
      structuredContent: { status: 'failed', partial: { text: 'ppppp' } },
    });
    expect(textOf(failed)).toContain('ffffffffff');
    expect(linksOf(failed)).toEqual([]);
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
      expect(JSON.parse((await read(link.uri)).result.contents[0].text).text).toHaveLength(1_500_000);
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
    const { contents } = (await read(`longhaul://operations/${token}/partial`)).result;
    expect(JSON.parse(contents[0].text)).toEqual(result.structuredContent.partial);
    await caller.get('operation_cancel', { token });
    const none = await caller.start('slow_compute', { seconds: 0 });
    await caller.settled(none);
    expect(textOf(await caller.call('operation_get', { token: none, view: 'partial' }))).toContain(
      'no partial result',
    );
    expect((await read(`longhaul://operations/${none}/partial`)).error!.message).toContain(
      'without a partial result',
    );
  });

  test('a partial result over 1 MiB is a link, which gives it whole, also after a cancel', async () => {
    const token = await caller.start('large_values', { partialBytes: 1_500_000, thenWaitSeconds: 600 });
    const readWhole = async () => {
      const look = await caller.call('operation_get', { token, view: 'partial' });
      const [link] = linksOf(look);
      if (!link) return undefined;
      expect(look.structuredContent).not.toHaveProperty('partial');
      expect(textOf(look)).toContain('at the link');
      expect(link).toMatchObject({ mimeType: 'application/json', name: 'partial.json' });
      return JSON.parse((await read(link.uri)).result.contents[0].text).text.length;
    };
    expect(await eventually('it has a partial result', readWhole)).toBe(1_500_000);
    await caller.get('operation_cancel', { token });
    await caller.settled(token);
    expect(await readWhole()).toBe(1_500_000);
  });

  test('a failure links what was finished before it, if its text shows only the beginning', async () => {
    const token = await caller.start('large_values', { failWithBytes: 10, partialBytes: 5_000 });
    const beginning = 'Finished before that (its beginning; all of it at the link):';
    for (const args of [{ token, view: 'result', wait: true }, { token }]) {
      const outcome = await caller.call('operation_get', args);
      expect(textOf(outcome)).toContain(beginning);
      const [link, ...others] = linksOf(outcome);
      expect(link).toMatchObject({ mimeType: 'application/json', name: 'partial.json', size: 5_011 });
      expect(others).toEqual([]);
      expect(JSON.parse((await read(link.uri)).result.contents[0].text).text).toHaveLength(5_000);
    }
    const { result } = await parts.client.until(token, 'completed');
    expect(textOf(result)).toContain(beginning);
    expect(textOf(result)).toContain(`<data>"partial.json: longhaul://operations/${token}/partial`);
  });

  test('a tool that is no pipeline has no steps', async () => {
    const token = await caller.start('slow_compute', { seconds: 0 });
    await caller.settled(token);
    const result = await caller.call('operation_get', { token, view: 'steps' });
    expect(textOf(result)).toContain('only pipelines and tools with child workflows have');
    expect(result.structuredContent).not.toHaveProperty('children');
  });

  test('refuses a view or timeout that there is not, and arguments of another view', async () => {
    const cases: [args: object, message: string][] = [
      [{ view: 'all' }, 'arguments.view: expected one of "summary"'],
      ...[0, -1, NaN, 1e9].map((timeout): [object, string] => [
        { wait: true, timeout },
        'arguments.timeout: expected',
      ]),
      [{ step: 'build/1' }, 'arguments.step: belongs to the view logs'],
      [{ view: 'steps', tail: 1 }, 'arguments.tail: belongs to the view'],
    ];
    for (const [args, message] of cases)
      await caller.refused('operation_get', { token: 'any', ...args }, 'invalid_arguments', message);
  });
});
