import { describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { Caller, textOf } from './support.js';

const parts = await forAllTests(TestStack.shared());
const caller = new Caller(parts.client);

describe('operation_answer', () => {
  test('answers the one open question without its key; once', async () => {
    const token = await caller.asking();
    const result = await caller.call('operation_answer', { token, content: { confirm: true } });
    expect(result.structuredContent.answered).toMatchObject({ action: 'accept', state: 'accepted' });
    expect(await caller.settled(token)).toMatchObject({ result: { deleted: ['old.csv'] } });
    const { key } = result.structuredContent.answered;
    await caller.refused('operation_answer', { token, key }, 'wrong_state', 'was already answered, at ');
    await caller.refused('operation_answer', { token }, 'wrong_state', 'no question is open');
    await caller.refused(
      'operation_answer',
      { token, key: 'input-9' },
      'wrong_state',
      'no question is open, and "input-9" may have been answered already',
    );
    // A repetition after a lost response.
    const again = await caller.get('operation_answer', { token, key, content: { confirm: true } });
    expect(again.answered).toEqual(result.structuredContent.answered);
  });

  test('an answer that does not fit is refused with path, expectation, what came and the schema; the question stays', async () => {
    const token = await caller.asking();
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
    const token = await caller.asking('multi_input', {});
    await eventually('both are open', async () => {
      const { input_required } = await caller.get('operation_get', { token, view: 'full' });
      return Object.keys(input_required).length === 2;
    });
    await caller.refused(
      'operation_answer',
      { token, content: {} },
      'invalid_arguments',
      'arguments.key: expected one of',
    );
    const { input_required } = await caller.get('operation_get', { token, view: 'full' });
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
});
