/** Schemas that are refused as their tool is loaded, and why. */
import { describe, expect, test } from '@jest/globals';
import { usableSchema, type JsonSchema } from '../../operations/tool/schema.js';

/** The schema as a tool has it, or the reasons for which it is refused. */
function usable(schema: unknown): JsonSchema | string {
  try {
    return usableSchema(schema as JsonSchema, 'input');
  } catch (error) {
    return (error as Error).message;
  }
}

describe('a schema is refused, with the place and what was expected, if it has', () => {
  const circular: JsonSchema = {};
  circular['not'] = circular;
  let deep: JsonSchema = {};
  for (let level = 0; level < 60; level += 1) deep = { properties: { a: deep } };
  const twice = (name: string) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] });
  const doubling = Array.from({ length: 20 }, (_, at) => [`d${at}`, at === 19 ? {} : twice(`d${at + 1}`)]);
  test.each<[what: string, schema: unknown, reason: string | RegExp]>([
    [
      'a number for a schema',
      { properties: { a: 5 } },
      'input.properties.a: expected a schema: an object, true or false; got 5',
    ],
    [
      'null for a schema',
      { items: null },
      'input.items: expected a schema: an object, true or false; got null',
    ],
    [
      'an unknown type',
      { properties: { 'a b': { type: 'any' } } },
      'input.properties["a b"].type: expected string, number, integer, boolean, array, object, null, or a list of these; got "any"',
    ],
    ['no type', { type: [] }, /^input\.type: expected string, .*; got \[\]$/],
    [
      'draft 3 in required',
      { properties: { a: { required: true } } },
      'input.properties.a.required: expected a list of names; got true',
    ],
    ['draft 4 in bounds', { exclusiveMinimum: true }, 'input.exclusiveMinimum: expected a number; got true'],
    [
      'a list for properties',
      { properties: [] },
      'input.properties: expected a map of names to schemas; got []',
    ],
    ['a text for a list of values', { enum: 'a' }, 'input.enum: expected a list of values; got "a"'],
    [
      'an empty list of schemas',
      { anyOf: [] },
      'input.anyOf: expected a list with at least one schema; got []',
    ],
    ['a negative length', { minLength: -1 }, 'input.minLength: expected a whole number from 0; got -1'],
    ['a list for a description', { description: ['a'] }, 'input.description: expected text; got ["a"]'],
    ['several problems', { minLength: 'a', maxLength: 'b' }, /^input\.minLength: .*\ninput\.maxLength: /],
    [
      'a reference to another document',
      { $ref: 'https://example.org/a' },
      'input.$ref: expected a reference within the schema, such as #/$defs/name; got "https://example.org/a"',
    ],
    [
      'a reference to nothing',
      { items: { $ref: '#/$defs/a' } },
      'input.items.$ref: expected a reference within the schema, such as #/$defs/name; got "#/$defs/a"',
    ],
    [
      'a reference to no schema',
      { $ref: '#/x-a', 'x-a': { type: 7 } },
      /^input\.\$ref\.type: expected string, .*; got 7$/,
    ],
    [
      'a dynamic reference',
      { $dynamicRef: '#a' },
      'input.$dynamicRef: expected $ref: a dynamic reference is not supported; got "#a"',
    ],
    [
      'an $id that is no URI',
      { $id: 'http://[' },
      /^input: expected a URI in each \$ref, and a different one in each \$id; got/,
    ],
    [
      'itself, for the same value',
      { allOf: [{ $ref: '#' }] },
      /^input: expected no reference back to the schema itself, except inside its properties and items; got/,
    ],
    [
      'millions of schemas for a value',
      { ...twice('d0'), $defs: Object.fromEntries(doubling) as JsonSchema },
      /^input: expected at most 10000 schemas for one value, with those behind references; got/,
    ],
    ['many levels', deep, 'input: expected at most 100 levels of nesting; got more'],
    [
      'itself as an object',
      circular,
      'input: expected a schema that JSON can hold; Converting circular structure to JSON',
    ],
    ['a value that JSON lacks', { const: 10n }, /^input: expected a schema that JSON can hold; .*BigInt/],
    [
      'more than a mebibyte',
      { description: 'x'.repeat(1_100_000) },
      /^input: expected at most 1048576 characters of JSON; got 11000\d\d$/,
    ],
  ])('%s', (_what, schema, reason) => {
    expect(usable(schema)).toEqual(typeof reason === 'string' ? reason : expect.stringMatching(reason));
  });
});

test.each<[what: string, schema: JsonSchema]>([
  ['booleans', { properties: { a: true, b: false }, additionalProperties: false }],
  ['a tree', { $defs: { a: { properties: { kids: { items: { $ref: '#/$defs/a' } } } } }, $ref: '#/$defs/a' }],
  ['unknown keywords', { nullable: true, 'x-order': [1], discriminator: { propertyName: 'a' } }],
  [
    'what a frozen object holds',
    Object.freeze({ items: Object.freeze({ $ref: '#/$defs/a' }), $defs: { a: true } }),
  ],
  [
    'names of prototypes',
    JSON.parse('{"properties":{"__proto__":true,"constructor":{"type":"string"}}}') as JsonSchema,
  ],
])('a schema with %s is no problem', (_what, schema) => {
  expect(usable(schema)).toEqual(schema);
});
