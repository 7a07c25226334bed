/** Arguments that a tool's schema doesn't name, or that don't fit it. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../index.js';
import { defineForeignTool } from '../../operations/tool/index.js';
import { check, type AnySchema, type JsonSchema } from '../../operations/tool/schema.js';

const options = <Input extends AnySchema>(input: Input) => ({
  name: 'x',
  description: { does: 'Does x.' },
  input,
  estimate: { seconds: 1 },
});
const problems = (schema: JsonSchema, args: object) => check(schema, args, 'arguments');
const object = (more: object): JsonSchema => ({
  type: 'object',
  properties: { count: { type: 'number' } },
  ...more,
});

describe('a misspelt argument is refused', () => {
  test.each([
    ["a zod object's", z.object({ count: z.number().optional() })],
    ["a JSON Schema's", object({})],
    ['one beside patterns', object({ patternProperties: { '^x-': { type: 'string' } } })],
    ['one beside alternatives of its own names', object({ anyOf: [{ required: ['count'] }, {}] })],
    ['one of a tool without arguments', z.object({})],
  ] as [string, AnySchema][])('%s', (_what, input) => {
    const { inputSchema } = defineTool(options(input));
    expect(problems(inputSchema, { cuont: 3 })).toEqual(['arguments.cuont: unknown; remove it']);
    expect(problems(inputSchema, {})).toEqual([]);
  });

  test('but not within an argument, whose schema says what it takes', () => {
    const { inputSchema } = defineTool(options(z.object({ inner: z.object({ count: z.number() }) })));
    expect(problems(inputSchema, { inner: { count: 1, cuont: 3 } })).toEqual([]);
  });
});

describe('an argument that is not named is taken', () => {
  test.each([
    ['if the schema has additionalProperties: true', object({ additionalProperties: true })],
    ['if the schema says which others', object({ additionalProperties: { type: 'number' } })],
    ["by zod's loose object", z.looseObject({ count: z.number().optional() })],
    ['beside allOf', object({ allOf: [{ properties: { other: { type: 'number' } } }] })],
    ['beside $ref', object({ $ref: '#/$defs/more', $defs: { more: { properties: { other: {} } } } })],
    ['if an alternative names it', object({ anyOf: [{ properties: { other: { type: 'number' } } }, {}] })],
    ['if it is required', object({ required: ['other'] })],
    ['by a schema without properties', { type: 'object' }],
  ] as [string, AnySchema][])('%s', (_what, input) => {
    const { inputSchema } = defineTool(options(input));
    expect(problems(inputSchema, { other: 3 })).toEqual([]);
  });

  test('by a tool whose arguments another system checks', () => {
    expect(problems(defineForeignTool(options(object({}))).inputSchema, { other: 3 })).toEqual([]);
  });
});

test.each([
  ['what is missing', { size: 'small' }, ['arguments: missing "lines"']],
  [
    'which values there are',
    { size: 'huge', lines: [] },
    ['arguments.size: expected one of "small", "large"; got "huge"'],
  ],
  [
    'where in a list the problem is',
    { size: 'small', lines: [{ item: 'tea' }, { item: 'milk', count: 0 }] },
    ['arguments.lines[1].count: expected minimum 1; got 0'],
  ],
  ['what type was expected', { size: 'small', lines: 'tea' }, ['arguments.lines: expected array; got "tea"']],
  [
    'everything at once',
    { size: 1, lines: [{ item: 'x' }] },
    [
      'arguments.size: expected one of "small", "large"; got 1',
      'arguments.lines[0].item: expected minLength 2; got "x"',
    ],
  ],
])('arguments that do not fit are refused with %s', (_what, args, expected) => {
  const { inputSchema } = defineTool(
    options(
      z.strictObject({
        size: z.enum(['small', 'large']),
        lines: z.array(
          z.strictObject({ item: z.string().min(2), count: z.number().int().min(1).default(1) }),
        ),
      }),
    ),
  );
  expect(problems(inputSchema, args)).toEqual(expect.arrayContaining(expected));
});
