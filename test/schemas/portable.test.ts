/** The listed form of an author's schema. */
import { expect, test } from '@jest/globals';
import { choicesOf, describeExpected, parseValue } from '../../cli/tools/schema-values.js';
import { listedSchema } from '../../mcp-server/listed-tools/schema.js';
import { check, usableSchema, type JsonSchema } from '../../operations/tool/schema.js';
import { Random } from '../support/random.js';
import { refusedForms } from './forms.js';
import { randomSchema, randomValue } from './random-schemas.js';

const NOTHING = { not: {} };

test.each<[what: string, written: JsonSchema, listed: JsonSchema]>([
  ['a boolean', { properties: { a: true, b: false } }, { properties: { a: {}, b: NOTHING } }],
  [
    'a boolean at any depth',
    { anyOf: [true, { items: true }], not: false, $defs: { a: false }, contains: true, if: true },
    { anyOf: [{}, { items: {} }], not: NOTHING, $defs: { a: NOTHING }, contains: {}, if: {} },
  ],
  [
    'booleans that clients know',
    { additionalProperties: false, unevaluatedProperties: false, uniqueItems: true, default: false },
    { additionalProperties: false, unevaluatedProperties: false, uniqueItems: true, default: false },
  ],
  [
    'a closed tuple',
    { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], items: false },
    {
      type: 'array',
      prefixItems: [{ type: 'number' }, { type: 'number' }],
      items: { type: 'number' },
      maxItems: 2,
    },
  ],
  [
    'a closed tuple of different types, already bounded',
    { prefixItems: [{ type: 'number' }, true], items: false, maxItems: 1 },
    { prefixItems: [{ type: 'number' }, {}], items: { anyOf: [{ type: 'number' }, {}] }, maxItems: 1 },
  ],
  [
    'a tuple that continues',
    { prefixItems: [{ type: 'string' }], items: { type: 'number' } },
    { prefixItems: [{ type: 'string' }], items: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
  ],
  [
    'a tuple of an older draft',
    { items: [{ type: 'string' }], additionalItems: false },
    { prefixItems: [{ type: 'string' }], items: { type: 'string' }, maxItems: 1 },
  ],
  ['a list that is always empty', { items: false }, { items: {}, maxItems: 0 }],
  [
    'several types',
    { type: ['string', 'null'], minLength: 2, minimum: 1, description: 'd', default: null },
    { description: 'd', default: null, anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }] },
  ],
  [
    'several types with choices',
    { type: ['string', 'null'], enum: ['a', null, 7] },
    { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] },
  ],
  [
    'several types, one of which fits',
    { type: ['string', 'null'], const: 'a' },
    { type: 'string', const: 'a' },
  ],
  ['several types, none of which fits', { type: ['string', 'null'], enum: [7] }, NOTHING],
  [
    'several types beside alternatives',
    { type: ['string', 'number'], anyOf: [{ const: 1 }, { const: 'a' }] },
    { anyOf: [{ const: 1 }, { const: 'a' }], allOf: [{ anyOf: [{ type: 'string' }, { type: 'number' }] }] },
  ],
  [
    'several types with what holds for all',
    { type: ['array', 'null'], items: { type: 'string' }, not: { const: [] }, unevaluatedItems: false },
    {
      not: { const: [] },
      unevaluatedItems: false,
      anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }],
    },
  ],
  ['a list of one type', { type: ['string'], maxLength: 3 }, { type: 'string', maxLength: 3 }],
  ['no choice', { type: 'string', enum: [] }, { type: 'string', ...NOTHING }],
  [
    'a keyword of OpenAPI',
    { properties: { nullable: { nullable: true } } },
    { properties: { nullable: {} } },
  ],
  [
    'data that looks like a schema',
    { default: { type: ['a'], items: false }, enum: [{ $ref: '#/a' }], 'x-mine': { items: false } },
    { default: { type: ['a'], items: false }, enum: [{ $ref: '#/a' }], 'x-mine': { items: false } },
  ],
  [
    'a reference to a part that has moved',
    {
      properties: {
        a: { type: ['array', 'null'], items: { type: 'string' } },
        b: { $ref: '#/properties/a/items' },
      },
    },
    {
      properties: {
        a: { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] },
        b: { $ref: '#/$defs/schema1' },
      },
      $defs: { schema1: { type: 'string' } },
    },
  ],
  [
    'a reference by $id, to a schema within itself',
    {
      properties: { a: { $id: 'Node', properties: { next: { $ref: 'Node' } } } },
      $defs: { schema1: { type: 'string' } },
    },
    {
      properties: { a: { properties: { next: { $ref: '#/$defs/schema2' } } } },
      $defs: { schema1: { type: 'string' }, schema2: { properties: { next: { $ref: '#/$defs/schema2' } } } },
    },
  ],
  [
    'a reference by $anchor, and one under an unknown keyword',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: { 'a/b': { $anchor: 'here', type: 'string' } },
      properties: { a: { $ref: '#here' }, b: { $ref: '#/x-types/c' } },
      'x-types': { c: { type: 'integer' } },
    },
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: { 'a/b': { $anchor: 'here', type: 'string' }, schema1: { type: 'integer' } },
      properties: { a: { $ref: '#/$defs/a~1b' }, b: { $ref: '#/$defs/schema1' } },
      'x-types': { c: { type: 'integer' } },
    },
  ],
  ['another dialect', { $schema: 'http://json-schema.org/draft-07/schema#', items: {} }, { items: {} }],
])('%s is listed in a form that all known clients take', (_what, written, listed) => {
  const before = structuredClone(written);
  expect(listedSchema(written)).toEqual(listed);
  expect(written).toEqual(before);
  expect(refusedForms(listed)).toEqual([]);
});

test('a listed schema accepts every value that the author accepts, and no other, the rest of a tuple aside', () => {
  const random = new Random(2_026);
  let fitting = 0;
  for (let at = 0; at < 1_000; at += 1) {
    const written = usable(randomSchema(random));
    if (typeof written === 'string') continue;
    const listed = listedSchema(written);
    expect([refusedForms(listed), written]).toEqual([[], written]);
    const isExact = !/"prefixItems"|"items":\[/.test(JSON.stringify(written));
    for (let number = 0; number < 20; number += 1) {
      const value = randomValue(random);
      const [byAuthor, byListed] = [written, listed].map((one) => check(one, value, 'value').length === 0);
      if (byAuthor) fitting += 1;
      if (byAuthor || isExact)
        expect({ written, value, fits: byListed }).toEqual({ written, value, fits: byAuthor });
    }
  }
  expect(fitting).toBeGreaterThan(1_000);
});

/** The schema as a tool has it, or the reasons for which it is refused. */
function usable(schema: unknown): JsonSchema | string {
  try {
    return usableSchema(schema as JsonSchema, 'input');
  } catch (error) {
    return (error as Error).message;
  }
}

test('the choices of an enum with null are choices for the command line', () => {
  const listed = listedSchema({ type: ['string', 'null'], enum: ['red', 'blue', null] });
  expect(choicesOf(listed)?.map(({ value }) => value)).toEqual(['red', 'blue', null]);
  expect(describeExpected(listed)).toBe('red|blue|null');
  expect(['red', 'null'].map((text) => parseValue(text, listed, '--color'))).toEqual(['red', null]);
  expect(() => parseValue('green', listed, '--color')).toThrow(
    '--color: expected red|blue|null; got "green"',
  );
  for (const odd of [{ anyOf: [true, { const: 1 }] }, { enum: 'a', anyOf: 5, required: 7, type: 'null' }])
    expect(choicesOf(odd)).toBeUndefined();
});
