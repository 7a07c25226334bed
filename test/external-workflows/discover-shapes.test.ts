/** Types from examples of values: schemas never hold a value, nor keys that are data. */
import { describe, expect, test } from '@jest/globals';
import { inputsFor, outputFor } from '../../cli/discover/inputs.js';
import { decodePayload, SeenValues } from '../../cli/discover/seen-values.js';
import { addExample, emptyShape, schemaOf, shapeText } from '../../cli/discover/shape.js';
import { payloadOf, rawPayload } from './discover-support.js';

function shapeOf(...values: unknown[]) {
  const shape = emptyShape();
  for (const value of values) addExample(shape, value);
  return shape;
}
const seen = (...lists: unknown[][]) => {
  const values = new SeenValues();
  for (const list of lists) values.add(list.map(payloadOf));
  return values;
};

describe('a schema', () => {
  test.each<[string, unknown[], object]>([
    ['of integers', [1, 2], { type: 'integer' }],
    ['of numbers that are sometimes whole', [1, 2.5], { type: 'number' }],
    ['of a text that may be null', ['a', null], { type: ['string', 'null'] }],
    ['of null alone', [null], {}],
    ['of a list', [[1, 2], []], { type: 'array', items: { type: 'integer' } }],
    ['of an empty list', [[]], { type: 'array' }],
    [
      'of objects requires what all have',
      [{ id: 'a', n: 1 }, { id: 'b' }],
      { type: 'object', properties: { id: { type: 'string' }, n: { type: 'integer' } }, required: ['id'] },
    ],
    [
      'of objects in lists merges them',
      [[{ a: 1 }, { a: 2, b: true }]],
      {
        type: 'array',
        items: {
          type: 'object',
          properties: { a: { type: 'integer' }, b: { type: 'boolean' } },
          required: ['a'],
        },
      },
    ],
    [
      'of a map whose keys are IDs has none of them',
      [{ 'o-17734': { paid: true } }, { 'o-88123': { paid: false } }],
      {
        type: 'object',
        additionalProperties: {
          type: 'object',
          properties: { paid: { type: 'boolean' } },
          required: ['paid'],
        },
      },
    ],
    [
      'of maps without a common key has none of them',
      [{ alice: 1, bob: 2 }, { carol: 3 }],
      { type: 'object', additionalProperties: { type: 'integer' } },
    ],
    [
      'of a map of addresses has none of them',
      [{ 'a@example.com': 'x' }],
      { type: 'object', additionalProperties: { type: 'string' } },
    ],
    [
      'of a map with a built-in name has no names',
      [{ constructor: 1 }],
      { type: 'object', additionalProperties: { type: 'integer' } },
    ],
  ])('%s', (_what, values, schema) => {
    expect(schemaOf(shapeOf(...values), true)).toEqual(schema);
  });

  test('of a deep value ends', () => {
    let value: unknown = 'secret';
    for (let depth = 0; depth < 1_000; depth += 1) value = { inner: value };
    expect(JSON.stringify(schemaOf(shapeOf(value), true)).length).toBeLessThan(1_000);
  });
});

test('shapes in words', () => {
  expect(shapeText(shapeOf({ id: 'a', tags: [], at: null }))).toBe('{ id: string, tags: list, at: null }');
  expect(shapeText(shapeOf(true, 'a'))).toBe('string or boolean');
});

describe('inputs', () => {
  test('are the fields of a single object', () => {
    expect(inputsFor(seen([{ id: 'a' }], [{ id: 'b', n: 1 }]))).toEqual({
      properties: { id: { type: 'string' }, n: { type: 'integer' } },
      required: ['id'],
    });
  });

  test('have other names where tools reserve them', () => {
    expect(inputsFor(seen([{ id: 'a', wait: 3, wait_value: 4 }]))).toEqual({
      properties: {
        id: { type: 'string' },
        wait_value: { type: 'integer' },
        wait_value_2: { type: 'integer' },
      },
      required: ['id', 'wait_value', 'wait_value_2'],
      args: { id: 'id', wait: 'wait_value', wait_value: 'wait_value_2' },
    });
  });

  test('of positional arguments are numbered; those that some runs lack are optional', () => {
    expect(inputsFor(seen(['a', 1], ['b']))).toEqual({
      properties: { arg1: { type: 'string' }, arg2: { type: 'integer' } },
      required: ['arg1'],
      args: ['arg1', 'arg2'],
    });
    expect(inputsFor(seen([]))).toEqual({ properties: {}, required: [], args: [] });
    expect(inputsFor(seen([{ a: 1 }], []))).toMatchObject({ args: ['arg1'], required: [] });
  });
});

describe('output', () => {
  test('requires nothing, since clients refuse results that it excludes', () => {
    expect(outputFor(seen([{ id: 'a' }], [null]))).toEqual({
      type: 'object',
      properties: { id: { type: 'string' } },
    });
    expect(outputFor(seen([3]))).toEqual({ type: 'integer' });
    expect(outputFor(seen([null]))).toBeUndefined();
    expect(outputFor(seen([{ id: 'a' }], ['text']))).toBe('mixed');
  });
});

test('encodings other than plain JSON are named, and not decoded', () => {
  expect(decodePayload(rawPayload('json/plain', '{"a":1}'))).toEqual({ value: { a: 1 } });
  expect(decodePayload(rawPayload('binary/null', ''))).toEqual({ value: null });
  expect(decodePayload(rawPayload('binary/encrypted', 'secret'))).toEqual({ encoding: 'binary/encrypted' });
  expect(decodePayload(rawPayload('json/protobuf', '{"id":"a"}', 'shop.Order'))).toEqual({
    ...{ value: { id: 'a' }, encoding: 'json/protobuf shop.Order' },
  });
  expect(decodePayload(rawPayload('json/plain', 'secret'))).toEqual({
    encoding: 'json/plain that is no JSON',
  });
  expect(decodePayload({})).toEqual({ encoding: 'an unknown encoding' });
});
