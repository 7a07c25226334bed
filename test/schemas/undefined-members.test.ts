/** A member that is undefined counts as missing, as in JSON: in digests, memos, seals and checks. */
import { describe, expect, test } from '@jest/globals';
import { defaultPayloadConverter } from '@temporalio/common';
import { check, withDefaults } from '../../operations/tool/schema.js';
import { digestOfJson, startDigest } from '../../operations/wire/signatures.js';
import { digestOf } from '../../operations/token.js';
import type { StartMemo } from '../../operations/wire/index.js';
import { sealOf } from '../../platform/home/seal.js';
import { Signer } from '../../platform/temporal/signer.js';

const SECRET = Buffer.alloc(32, 1);
const WITH = { a: 1, b: undefined, c: { d: undefined, e: [{ f: undefined }] } };
const WITHOUT = { a: 1, c: { e: [{}] } };
const MEMO = { version: 1, tool: 't', principal: 'anonymous' } as StartMemo;
const MEMO_WITH = { ...MEMO, session: undefined, queue: undefined } as StartMemo;

test('the digest of arguments is the same', () => {
  expect(digestOf('tool', WITH, SECRET)).toBe(digestOf('tool', WITHOUT, SECRET));
});

test('the digest that a signature covers is the same', () => {
  expect(digestOfJson(WITH)).toBe(digestOfJson(WITHOUT));
  expect(startDigest('type', MEMO_WITH, [WITH])).toBe(startDigest('type', MEMO, [WITHOUT]));
  const signed = new Signer(SECRET).signedMemo('id', { workflowType: 'type', memo: MEMO_WITH, args: [WITH] });
  expect(signed.signature).toContain(startDigest('type', MEMO, [WITHOUT]));
});

test('the payload of a memo is the same', () => {
  expect(defaultPayloadConverter.toPayload(MEMO_WITH)).toEqual(defaultPayloadConverter.toPayload(MEMO));
  expect(defaultPayloadConverter.toPayload(WITH)).toEqual(defaultPayloadConverter.toPayload(WITHOUT));
});

test('a sealed position opens without it', () => {
  const seal = sealOf<object>(SECRET, 'test');
  expect(Object.keys(seal.open(seal.seal({ a: 1, b: undefined }))!)).toEqual(['a']);
});

describe('a JSON Schema', () => {
  test.each<[string, Record<string, unknown>]>([
    ['type', { properties: { b: { type: 'string' } } }],
    ['additionalProperties', { properties: { a: true }, additionalProperties: false }],
    ['patternProperties', { patternProperties: { '^b$': false } }],
    ['propertyNames', { propertyNames: { const: 'a' } }],
    ['maxProperties', { maxProperties: 1 }],
    ['dependentRequired', { dependentRequired: { b: ['z'] } }],
    ['dependentSchemas', { dependentSchemas: { b: false } }],
    ['unevaluatedProperties', { allOf: [{ properties: { a: true } }], unevaluatedProperties: false }],
  ])("with %s doesn't see it", (_keyword, schema) => {
    expect(check({ type: 'object', ...schema }, { a: 1, b: undefined }, 'value')).toEqual([]);
  });

  test('that requires it misses it', () => {
    expect(check({ required: ['a', 'b'] }, { a: 1, b: undefined }, 'value')).toEqual(['value: missing "b"']);
    expect(check({ minProperties: 2 }, { a: 1, b: undefined }, 'value')).toHaveLength(1);
  });

  test('with a default fills it in', () => {
    const schema = { properties: { b: { default: 2 } } };
    expect(withDefaults(schema, { a: 1, b: undefined })).toEqual({ a: 1, b: 2 });
  });
});
