/** The validator gives the same verdict on each value as @cfworker/json-schema, of which it is a fork. */
import { Validator as LibraryValidator } from '@cfworker/json-schema';
import { describe, expect, test } from '@jest/globals';
import { check } from '../../operations/tool/schema.js';

const VALUES: unknown[] =
  `0.3 1e21 "2026-01-31" null true 0 1 -1 1.5 "" "a" "aa" "b" "😀" "x-1" [] [1] [1,1] ["a",1] [1,"a"]
  [{"a":1,"b":2},{"b":2,"a":1}]  [0,false] [null,null] ["1",1] [[1],[1]] {} {"a":1} {"a":"x"} {"a":1,"b":2} {"b":1} {"x-1":1}
  {"a":{"a":{"a":1}}} {"a":null} {"length":1} {"toString":1} {"__proto__":1} {"a/b":1,"c~d":"e"}`
    .split(/\s+/)
    .map((json) => JSON.parse(json));

test.each<[Record<string, unknown>]>([
  [{ type: 'integer' }],
  [{ type: ['string', 'null'] }],
  [{ const: null }],
  [{ const: { b: 2, a: 1 } }],
  [{ enum: [1, 'a', [1]] }],
  [{ minimum: 0, exclusiveMaximum: 1.5, multipleOf: 0.1 }],
  [{ maximum: 1, exclusiveMinimum: -1 }],
  [{ minLength: 1, maxLength: 1 }],
  [{ pattern: '^a' }],
  [{ format: 'date' }],
  [{ items: { type: 'integer' }, minItems: 1, maxItems: 1 }],
  [{ prefixItems: [{ type: 'string' }], items: { type: 'integer' } }],
  [{ prefixItems: [{ type: 'string' }], items: false }],
  [{ items: [{ type: 'string' }], additionalItems: false }],
  [{ contains: { type: 'string' } }],
  [{ contains: { type: 'integer' }, minContains: 2 }],
  [{ contains: { type: 'integer' }, minContains: 0, maxContains: 1 }],
  [{ uniqueItems: true }],
  [{ prefixItems: [true], unevaluatedItems: false }],
  [{ required: ['a'], minProperties: 1, maxProperties: 1 }],
  [{ required: ['toString'] }],
  [{ properties: { a: { type: 'integer' } }, additionalProperties: false }],
  [{ properties: { 'a/b': { type: 'string' }, 'c~d': { type: 'integer' } } }],
  [{ patternProperties: { '^x-': { type: 'string' } }, additionalProperties: { type: 'integer' } }],
  [{ propertyNames: { pattern: '^.$' } }],
  [{ dependentRequired: { a: ['b'] } }],
  [{ dependentSchemas: { a: { required: ['b'] } } }],
  [{ dependencies: { a: ['b'], b: { required: ['a'] } } }],
  [{ allOf: [{ properties: { a: true } }], unevaluatedProperties: false }],
  [
    {
      anyOf: [{ required: ['a'], properties: { a: true } }, true],
      unevaluatedProperties: { type: 'string' },
    },
  ],
  [
    {
      if: { required: ['a'], properties: { a: true } },
      then: { properties: { b: true } },
      unevaluatedProperties: false,
    },
  ],
  [{ anyOf: [{ type: 'string' }, { minimum: 1 }] }],
  [{ oneOf: [{ type: 'integer' }, { minimum: 1 }] }],
  [{ allOf: [{ type: 'integer' }, { minimum: 1 }] }],
  [{ not: { type: 'string' } }],
  [{ if: { type: 'string' }, then: { minLength: 2 }, else: { type: 'object' } }],
  [{ properties: { a: { $ref: '#' } }, additionalProperties: false }],
  [{ $ref: '#/$defs/n', $defs: { n: { type: 'integer' } } }],
  [{ properties: { a: false } }],
])('%j', (schema) => {
  const library = new LibraryValidator(structuredClone(schema), '2020-12', false);
  const differing = VALUES.filter(
    (value) => library.validate(value).valid !== (check(schema, value, 'value').length === 0),
  );
  expect(differing).toEqual([]);
});

describe('a value of 1 MiB is checked to its end', () => {
  const numbers = Array.from({ length: 150_000 }, (_, index) => index);
  const problemsOf = (schema: Record<string, unknown>, value: unknown) => check(schema, value, 'value');

  test('with uniqueItems', () => {
    expect(problemsOf({ uniqueItems: true }, numbers)).toEqual([]);
    expect(problemsOf({ uniqueItems: true }, [...numbers, 7])).toEqual([
      expect.stringMatching(/^value: Duplicate items at indexes 7 and 150000\.; got \[0,1,2/),
    ]);
  });

  test('with nothing in it that fits', () => {
    const problems = problemsOf({ items: { anyOf: [{ type: 'string' }, { minimum: 1e6 }] } }, numbers);
    expect(problems.slice(0, 3)).toEqual([
      'value[0]: Instance does not match any subschemas.; got 0',
      'value[0]: expected string; got 0',
      'value[0]: expected minimum 1000000; got 0',
    ]);
    expect(problems.length).toBeLessThan(200);
  });

  test('whose text is longer than maxLength, whatever its pattern', () => {
    expect(problemsOf({ maxLength: 10, pattern: '^(?:.*a.{900}b)+c$' }, 'ab'.repeat(500_000))).toEqual([
      expect.stringContaining('value: expected maxLength 10; got'),
    ]);
  });
});

test('a problem behind a reference is reported as any other', () => {
  const schema = { properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: { type: 'integer', minimum: 3 } } };
  expect(check(schema, { a: 'x' }, 'value')).toEqual(['value.a: expected integer; got "x"']);
  expect(check(schema, { a: 1 }, 'value')).toEqual(['value.a: expected minimum 3; got 1']);
});
