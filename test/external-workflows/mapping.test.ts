/** State, questions and results of external workflows, from the values that they give. */
import type { Payload } from '@temporalio/common';
import { describe, expect, test } from '@jest/globals';
import { resultIn } from '../../engine/read/closed.js';
import {
  idOf,
  progressIn,
  questionsIn,
  structuredResult,
  type QuestionMapping,
} from '../../operations/wire/external-workflow.js';

const payload = (encoding: string | undefined, data: string): Payload => ({
  metadata: encoding === undefined ? {} : { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});

describe('progress', () => {
  test.each([
    [
      'numbers and texts',
      { done: 3, total: 10, step: 'pack' },
      { stage: 'pack', progress: { progress: 3, total: 10 } },
    ],
    ['numbers as texts', { done: '3', total: '10' }, { progress: { progress: 3, total: 10 } }],
    ['nothing', null, {}],
    ['a total alone', { total: 10 }, {}],
    ['no number', { done: 'three', step: 2 }, { stage: '2' }],
    ['a negative number', { done: -1 }, {}],
    ['a list', [1, 2], {}],
  ])('is read from %s', (_what, value, expected) => {
    expect(progressIn(value, { progress: 'done', total: 'total', stage: 'step' })).toEqual(expected);
  });

  test('paths go through objects and lists; the whole value has the path `.`; a total may be fixed', () => {
    expect(progressIn({ at: [{ n: 4 }] }, { progress: 'at.0.n', total: 100 })).toEqual({
      progress: { progress: 4, total: 100 },
    });
    expect(progressIn(7, { progress: '.' })).toEqual({ progress: { progress: 7 } });
    expect(progressIn({}, { progress: 'constructor.length' })).toEqual({});
  });
});

describe('questions', () => {
  const mapping: QuestionMapping = {
    ...{ query: 'q', message: undefined, key: 'id', schema: {}, approvers: undefined, fourEyes: false },
    answer: { by: 'update', name: 'u', args: 'object', decline: undefined },
  };
  const messages = (value: unknown) => questionsIn(value, mapping).map(({ request }) => request.message);

  test.each([
    ['null', null, []],
    ['false', false, []],
    ['an empty text', '', []],
    ['an empty list', [], []],
    ['an empty map', {}, []],
    ['true', true, ['The workflow waits for an answer.']],
    ['a text', 'Refund?', ['Refund?']],
    ['a map with a usual field', { prompt: 'Refund?' }, ['Refund?']],
    ['any other map', { order: 1 }, ['{"order":1}']],
    ['a list', [{ text: 'A?' }, null, { text: 'B?' }], ['A?', 'B?']],
  ])('%s', (_what, value, expected) => {
    expect(messages(value)).toEqual(expected);
  });

  test('have their identity from the path', () => {
    expect(questionsIn([{ id: 7, text: 'A?' }], mapping)[0]!.identity).toBe('7');
  });
});

describe('results', () => {
  test.each([
    ['JSON', 'json/plain', '{"a":1}', { result: { a: 1 } }],
    ["protobuf's JSON", 'json/protobuf', '{"a":"1"}', { result: { a: '1' } }],
    ['bytes', 'binary/plain', 'raw', { result: { encoding: 'base64', bytes: 3, data: 'cmF3' } }],
    ['nothing', 'binary/null', '', {}],
    ['an encrypted value', 'binary/encrypted', 'x', { problem: expect.stringContaining('binary/encrypted') }],
    ['no encoding', undefined, 'x', { problem: expect.stringContaining('no codec') }],
    ['JSON that is cut off', 'json/plain', '{"a":', { problem: expect.stringContaining("isn't JSON") }],
  ])('%s', (_what, encoding, data, expected) => {
    expect(resultIn(payload(encoding, data))).toEqual(expected);
  });

  test('become objects', () => {
    expect(structuredResult({ a: 1 })).toEqual({ a: 1 });
    expect(structuredResult([1])).toEqual({ result: [1] });
    expect(structuredResult(undefined)).toEqual({ result: null });
  });
});

test('workflow IDs are made of arguments', () => {
  expect(idOf('order-{id}-{n}', { id: 'a b', n: 3 })).toBe('order-a b-3');
});
