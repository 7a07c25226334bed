import { describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { Caller, textOf } from './support.js';

/** A tool that no other file calls: cancelling all of its operations ends no other test's. */
const HELD = 'held';

const parts = await forAllTests(TestStack.shared());
const caller = new Caller(parts.client);

describe('operation_cancel', () => {
  test('returns once the cancel is requested, and says so when it had ended already', async () => {
    const token = await caller.start('slow_compute', { seconds: 600 });
    const cancelled = await caller.get('operation_cancel', { token, reason: 'enough' });
    expect(cancelled).toMatchObject({ token, was_open: true });
    const ended = await caller.get('operation_get', { token, view: 'full', wait: true });
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

  test('refuses arguments that choose nothing, or in two ways', async () => {
    const cases: [args: object, message: string][] = [
      [{}, 'expected either token or filter; got neither'],
      [{ token: 'a', filter: { tool: 'a' } }, 'expected either token or filter; got both'],
      [{ filter: { tool: 'a' }, force: true }, 'arguments.force: expected a token beside it'],
      [{ filter: {} }, 'expected at least one of tool, session and status'],
      [{ filter: { status: 'completed' } }, 'arguments.filter.status: expected one of'],
    ];
    for (const [args, message] of cases)
      await caller.refused('operation_cancel', args, 'invalid_arguments', message);
  });
});
