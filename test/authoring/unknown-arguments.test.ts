/** Arguments that a tool's schema doesn't name. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../index.js';
import { defineForeignTool } from '../../operations/tool.js';
import { check, type AnySchema, type JsonSchema } from '../../operations/schema.js';
import { call, textOf } from '../plain/support.js';
import { TestStack } from '../support/test-stack.js';

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

describe('a call', () => {
  let parts: TestStack;
  beforeAll(async () => {
    parts = await TestStack.shared();
  });
  afterAll(() => parts?.stop());

  test('with a misspelt argument is refused by name, and starts nothing', async () => {
    const client = parts.client.with({});
    const result = await call(client, 'slow_compute', { seconds: 0, lable: 'x', wait: true });
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'longhaul/error': { kind: 'invalid_arguments' } },
    });
    expect(textOf(result).split('\n')[0]).toBe('arguments.lable: unknown; remove it');
  });
});
