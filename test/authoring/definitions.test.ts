import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineTool, type ToolInput, type ToolOutput } from '../../index.js';
import { defineForeignTool } from '../../operations/tool/index.js';
import { check, type AnySchema, type JsonSchema } from '../../operations/tool/schema.js';
import type { requestInput } from '../../workflows/runtime/index.js';

const minimal = {
  name: 'x',
  description: { does: 'Does x.' },
  input: z.object({ n: z.number() }),
  estimate: { seconds: 1 },
};
const define = (changes: object) => () => defineTool({ ...minimal, ...changes });

/** A property of the arguments. */
const argument = (name: string, schema: object) => ({
  input: { type: 'object', properties: { [name]: schema } },
});
const per = (more: object) => ({ estimate: { seconds: 1, per: { seconds: 1, ...more } } });
const transformed = z.object({ n: z.string().transform(Number) });

describe('a definition is refused, naming tool and field', () => {
  test.each<[message: string | RegExp, changes: object]>([
    ['tool "no-dashes": name: expected a letter', { name: 'no-dashes' }],
    ['choose another', { name: 'operation_list' }],
    ['tool "x": description.does: expected a sentence', { description: undefined }],
    [
      'description.useWen: unknown option; did you mean "useWhen"?',
      { description: { does: 'x', useWen: 'y' } },
    ],
    ['tool "x": estimate: expected { seconds }', { estimate: undefined }],
    ['"m" is not an argument; known are n', per({ argument: 'm' })],
    ['estimate.per.of: expected "value" or "file_bytes"; got "rows"', per({ argument: 'n', of: 'rows' })],
    ['deadlineSecond: unknown option; did you mean "deadlineSeconds"?', { deadlineSecond: 60 }],
    [
      'taskSupport: expected "optional" or "required" or "forbidden"; got "require"',
      { taskSupport: 'require' },
    ],
    ['withoutTasks: belongs to taskSupport "required"', { withoutTasks: 'hidden' }],
    ['wait: expected true or false; got "yes"', { wait: 'yes' }],
    ['retryableErrors[1]: expected text; got 3', { retryableErrors: ['Busy', 3] }],
    [
      /estimate\.a: unknown option.*\n.*retries: unknown option/,
      { retries: 3, estimate: { seconds: 1, a: 2 } },
    ],
    ['input: expected a zod schema or a JSON Schema; got nothing', { input: undefined }],
    ['input: expected the schema of an object; got type "string"', { input: z.string() }],
    ['use a plain schema, and transform in the workflow or an activity', { input: transformed }],
    ['input.a.x-mcp-header: arguments are not taken from headers', argument('a', { 'x-mcp-header': 'A' })],
    ['deadlineSeconds: expected seconds above 0, at most 31536000; got 0', { deadlineSeconds: 0 }],
    ['belongs to tools that ask; questions is {}', { questions: {}, inputWaitSeconds: 60 }],
    ['"m" is not an argument', { askFor: { m: 'How many?' } }],
    ['askFor: property "n"', { input: z.object({ n: z.object({}) }), askFor: { n: '?' } }],
    ['questions.ok: property "a": expected a string', { questions: { ok: z.object({ a: z.object({}) }) } }],
    ['questions.ok: expected an object schema with properties', { questions: { ok: z.string() } }],
  ])('%s', (message, changes) => {
    expect(define(changes)).toThrow(message);
  });

  test.each(['wait', 'timeout', 'idempotency_key'])('an argument may not be called %s', (name) => {
    expect(define(argument(name, {}))).toThrow(`input.${name}: the name is reserved`);
  });

  test.each<[string, object]>([
    ['in a part of allOf', { allOf: [{ properties: { idempotency_key: {} } }] }],
    ['behind a reference', { $ref: '#/$defs/a', $defs: { a: { properties: { idempotency_key: {} } } } }],
    ['as a required one', { required: ['idempotency_key'] }],
    ['under a condition', { if: {}, then: { dependentSchemas: { a: { required: ['idempotency_key'] } } } }],
  ])('idempotency_key may not be declared %s', (_where, schema) => {
    expect(define({ input: { type: 'object', ...schema } })).toThrow(
      'input.idempotency_key: the name is reserved',
    );
  });

  test('idempotency_key may be declared of a nested object, which is no argument of the call', () => {
    const nested = { type: 'object', properties: { idempotency_key: { type: 'string' } } };
    expect(define({ input: { type: 'object', properties: { payment: nested } } })).not.toThrow();
  });

  test('a schema may not come from a library that gives no JSON Schema', () => {
    const old = { '~standard': { version: 1, vendor: 'zod', validate: () => ({ value: 1 }) } };
    expect(define({ input: old })).toThrow('zod from 4.2 on');
  });
});

describe('a definition', () => {
  test('says what its time depends on', () => {
    const descriptionWith = (per: object) => define({ estimate: { seconds: 1, per } })().description;
    expect(descriptionWith({ argument: 'n', seconds: 2 })).toContain('about 1 s + 2 s per unit of n,');
    expect(descriptionWith({ argument: 'n', of: 'file_bytes', seconds: 30e-9 })).toContain(
      'about 1 s + 30 s per GB of n,',
    );
    expect(descriptionWith({ argument: 'n', seconds: 0 })).toContain('about 1 s, at most');
  });

  test('fills in defaults, and describes its times', () => {
    const tool = define({ cleanup: 'nothing is left.', retryableErrors: ['Busy'] })();
    expect(tool).toMatchObject({
      title: 'x',
      taskSupport: 'optional',
      wait: false,
      timeoutSeconds: 600,
      deadlineSeconds: 86_400,
      cleanupSeconds: 300,
      // It may ask: it doesn't declare that it asks nothing.
      inputWaitSeconds: 30 * 86_400,
      keepAliveSeconds: 86_400,
      askFor: {},
    });
    expect(tool.description).toBe(
      [
        'Does x.',
        'Usually takes about 1 s, at most 86400 s.',
        'On cancel or time-out: nothing is left.',
        'Retryable failures: Busy.',
      ].join('\n'),
    );
  });

  test('takes plain JSON Schema for arguments and result', () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } } };
    expect(define({ input: schema, output: schema })()).toMatchObject({
      inputSchema: schema,
      outputSchema: schema,
    });
  });

  test('types arguments, result and answers', () => {
    const _approval = z.object({ approve: z.boolean(), why: z.string().optional() });
    const _tool = defineTool({
      ...minimal,
      input: z.object({ cups: z.number(), milk: z.boolean().default(false) }),
      output: z.object({ brewed: z.number() }),
      toText: ({ brewed }) => `${brewed} cups`,
    });
    const input: ToolInput<typeof _tool> = { cups: 1, milk: false };
    // @ts-expect-error after defaults, milk is always there
    const withoutMilk: ToolInput<typeof _tool> = { cups: 1 };
    // @ts-expect-error cups is a number
    const wrongCups: ToolInput<typeof _tool> = { cups: '1', milk: false };
    const output: ToolOutput<typeof _tool> = { brewed: 1 };
    // @ts-expect-error brewed is missing
    const wrongOutput: ToolOutput<typeof _tool> = {};

    type Asked = Awaited<ReturnType<typeof requestInput<typeof _approval>>>;
    const accepted: Asked = { action: 'accept', content: { approve: true } };
    const declined: Asked = { action: 'decline' };
    // @ts-expect-error approve is a boolean
    const wrongAnswer: Asked = { action: 'accept', content: { approve: 'yes' } };
    // @ts-expect-error a question that is dismissed is asked again: the tool never sees that
    const dismissed: Asked = { action: 'cancel' };
    expect([
      input,
      withoutMilk,
      wrongCups,
      output,
      wrongOutput,
      accepted,
      declined,
      wrongAnswer,
      dismissed,
    ]).toHaveLength(9);
  });
});

const options = <Input extends AnySchema>(input: Input) => ({ ...minimal, input });
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

const line = z.strictObject({ item: z.string().min(2), count: z.number().int().min(1).default(1) });
const order = z.strictObject({ size: z.enum(['small', 'large']), lines: z.array(line) });

test.each<[args: object, problems: string[]]>([
  [{ size: 'small' }, ['arguments: missing "lines"']],
  [{ size: 'huge', lines: [] }, ['arguments.size: expected one of "small", "large"; got "huge"']],
  [
    { size: 'small', lines: [{ item: 'tea' }, { item: 'milk', count: 0 }] },
    ['arguments.lines[1].count: expected minimum 1; got 0'],
  ],
  [{ size: 'small', lines: 'tea' }, ['arguments.lines: expected array; got "tea"']],
  [
    { size: 1, lines: [{ item: 'x' }] },
    [
      'arguments.lines[0].item: expected minLength 2; got "x"',
      'arguments.size: expected one of "small", "large"; got 1',
      'arguments.size: expected string; got 1',
    ],
  ],
])('the arguments %j do not fit, and every problem is named', (args, expected) => {
  expect(problems(defineTool(options(order)).inputSchema, args).sort()).toEqual(expected);
});
