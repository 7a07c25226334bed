/** The engine and workflows share these: definitions, whose names are in histories and whose types are checked, and the fields of the memo. */
import { expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { setHandler } from '@temporalio/workflow';
import * as wire from '../../operations/wire/index.js';
import {
  CUT_MARK,
  cutText,
  INPUT_MEMO_BYTES,
  jsonBytes,
  publishedState,
  SMALL_FIELD_BYTES,
  stateFields,
  type OperationState,
} from '../../operations/wire/state.js';

test('definitions keep the names that histories and foreign clients have', () => {
  const names = Object.entries(wire)
    .filter(([, value]) => typeof value === 'object' && 'type' in value)
    .map(([key, { type, name }]: [string, any]) => [key, `${type} ${name}`]);
  expect(Object.fromEntries(names)).toEqual({
    OPERATION_QUERY: 'query operation',
    PROVIDE_INPUT_UPDATE: 'update provide_input',
    PROVIDE_INPUT_SIGNAL: 'signal provide_input',
    CANCEL_OPERATION_SIGNAL: 'signal cancel_operation',
    PART_NOTICE_SIGNAL: 'signal longhaul_part',
  });
});

/** Only compiled: each line fails `npm run types` when its payload is not checked. */
export async function wrongPayloads(handle: WorkflowHandle): Promise<void> {
  // @ts-expect-error no answer
  await handle.signal(wire.PROVIDE_INPUT_SIGNAL, { key: 'k', answerId: 'a' });
  // @ts-expect-error no such action
  await handle.executeUpdate(wire.PROVIDE_INPUT_UPDATE, {
    args: [{ key: 'k', answerId: 'a', answer: 'yes' }],
  });
  // @ts-expect-error the state has no such field
  void (await handle.query(wire.OPERATION_QUERY)).nonesuch;
  // @ts-expect-error a reason is a string
  setHandler(wire.CANCEL_OPERATION_SIGNAL, (reason: number) => void reason);
}

const TEXTS = ['x', 'ä', '€', '😀', '\ud800', '\udc00', '\0', '"', '\\', '\n', 'ab\ud83d'];
const AT = new Date().toISOString();

test('sizes are those of the JSON in UTF-8', () => {
  for (const text of TEXTS) {
    const value = { [text]: [text.repeat(3), 1.5, null] };
    expect(jsonBytes(value)).toBe(Buffer.byteLength(JSON.stringify(value)));
  }
});

test('a text is cut at a whole character, marked, and fits', () => {
  for (const text of TEXTS)
    for (const limitBytes of [10, 11, 12, 13, 400]) {
      const cut = cutText(text.repeat(1_000), limitBytes);
      expect(jsonBytes(cut)).toBeLessThanOrEqual(limitBytes);
      expect(cut.endsWith(CUT_MARK)).toBe(true);
      expect(text.repeat(1_000).startsWith(cut.slice(0, -1))).toBe(true);
      // The next character would not fit.
      expect(jsonBytes(cut) + jsonBytes([...text][0]) - 2 + 12).toBeGreaterThan(limitBytes);
    }
  expect(cutText('short', 400)).toBe('short');
});

/** Every field at its largest. */
function largest(text: string): OperationState {
  const long = text.repeat(100_000);
  const inputRequests = Object.fromEntries(
    Array.from({ length: 500 }, (_none, index) => [
      `${text.repeat(20)}/${index}`,
      { message: long.slice(0, 2_000), schema: { type: 'object' } },
    ]),
  );
  const ms = Number.MAX_SAFE_INTEGER;
  return {
    stage: long,
    progress: { progress: 0.1 + 0.2, total: 1e-7 / 3, message: long },
    ...{ unreached: 1 / 3, inputRequests, questionsSince: AT, inputRequestCount: ms, partCount: ms },
    ...{ awaitedMs: ms, awaitedBeforeMs: ms, queuedMs: ms, turnAt: AT, turnWaitedMs: ms, size: 1 / 3 },
    ...{ deadlineRemainingMs: -ms, cancelRequestedAt: AT, cancelReason: long, updatedAt: AT },
    ...{ partial: { long }, children: [{ name: long, status: 'working', steps: [] }] },
  };
}

test('the state memo and the questions have their bounds, whatever an author writes', () => {
  for (const text of TEXTS) {
    const { operation, operation_input, operation_details } = stateFields(largest(text));
    expect(jsonBytes(operation)).toBeLessThanOrEqual(SMALL_FIELD_BYTES);
    expect(operation.cut).toEqual(['stage', 'message', 'cancelReason']);
    expect(operation.questions!.count).toBe(500);
    expect(jsonBytes(operation_input)).toBeLessThanOrEqual(INPUT_MEMO_BYTES);
    expect(Object.keys(operation_input).length).toBeGreaterThan(0);
    expect(jsonBytes(operation_details)).toBeLessThan(64 * 1024);
  }
});

test('what is published is what was written, without the values in storage', () => {
  const state: OperationState = { stage: 'one', partial: { a: 1 }, answers: [], updatedAt: AT };
  const { operation_children: _none, ...memo } = stateFields(state);
  expect(publishedState({ ...memo })).toMatchObject({ stage: 'one', partial: { a: 1 }, answers: [] });
  const claim = { longhaul: 'stored', key: 'payloads/x', bytes: 3_000 };
  const stored = publishedState({ ...memo, operation_partial: claim })!;
  expect(stored).not.toHaveProperty('partial');
  expect(stored.claims).toEqual({ operation_partial: claim });
  expect(publishedState({ operation_partial: claim })).toBeUndefined();
});
