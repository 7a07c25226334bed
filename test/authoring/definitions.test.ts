import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineTool, type ToolInput, type ToolOutput } from '../../index.js';
import type { requestInput } from '../../workflows/runtime/index.js';

const minimal = {
  name: 'x',
  description: { does: 'Does x.' },
  input: z.object({ n: z.number() }),
  estimate: { seconds: 1 },
};
const define = (changes: object) => () => defineTool({ ...minimal, ...changes });

describe('a definition is refused, naming tool and field, when', () => {
  test.each([
    ['the name has other characters', { name: 'no-dashes' }, 'tool "no-dashes": name: expected a letter'],
    ['the name is of those that Longhaul keeps', { name: 'operation_list' }, 'choose another'],
    [
      'an argument is to come as a header',
      { input: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } } },
      'input.region.x-mcp-header: arguments are not taken from headers',
    ],
    [
      'there is no description',
      { description: undefined },
      'tool "x": description.does: expected a sentence',
    ],
    ['there is no estimate', { estimate: undefined }, 'tool "x": estimate: expected { seconds }'],
    [
      'an option is misspelt',
      { deadlineSecond: 60 },
      'tool "x": deadlineSecond: unknown option; did you mean "deadlineSeconds"?',
    ],
    [
      'a part of the description is misspelt',
      { description: { does: 'x', useWen: 'y' } },
      'tool "x": description.useWen: unknown option; did you mean "useWhen"?',
    ],
    [
      'an option has none of its words',
      { taskSupport: 'require' },
      'taskSupport: expected "optional" or "required" or "forbidden"; got "require"',
    ],
    ['an option has another type', { wait: 'yes' }, 'wait: expected true or false; got "yes"'],
    [
      'a list has something else in it',
      { retryableErrors: ['Busy', 3] },
      'retryableErrors[1]: expected text; got 3',
    ],
    [
      'several options are wrong: all are reported',
      { retries: 3, estimate: { seconds: 1, attempts: 2 } },
      /estimate\.attempts: unknown option.*\n.*retries: unknown option/,
    ],
    [
      'there are no arguments',
      { input: undefined },
      'input: expected a zod schema or a JSON Schema; got nothing',
    ],
    [
      'the arguments are no object',
      { input: z.string() },
      'input: expected the schema of an object; got type "string"',
    ],
    [
      'an argument has a transform',
      { input: z.object({ n: z.string().transform(Number) }) },
      'input: Transforms cannot be represented in JSON Schema; use a plain schema, and transform in the workflow or an activity',
    ],
    [
      'the deadline is not above 0',
      { deadlineSeconds: 0 },
      'deadlineSeconds: expected seconds above 0, at most 31536000; got 0',
    ],
    [
      'it asks nothing, and people have time to answer',
      { questions: {}, inputWaitSeconds: 60 },
      'tool "x": inputWaitSeconds: belongs to tools that ask; questions is {}',
    ],
    [
      'the estimate counts an unknown argument',
      { estimate: { seconds: 1, per: { argument: 'm', seconds: 1 } } },
      '"m" is not an argument; known are n',
    ],
    [
      'the estimate is of what there is not',
      { estimate: { seconds: 1, per: { argument: 'n', of: 'rows', seconds: 1 } } },
      'estimate.per.of: expected "value" or "file_bytes"; got "rows"',
    ],
    ['it asks for an unknown argument', { askFor: { m: 'How many?' } }, '"m" is not an argument'],
    [
      'it asks for an argument that no form can show',
      { input: z.object({ n: z.object({}) }), askFor: { n: '?' } },
      'askFor: property "n"',
    ],
    [
      'a question is not flat',
      { questions: { ok: z.object({ a: z.object({ b: z.string() }) }) } },
      'questions.ok: property "a": expected a string, number, integer, boolean or enum',
    ],
    [
      'withoutTasks is said of a tool that does not need tasks',
      { withoutTasks: 'hidden' },
      'withoutTasks: belongs to taskSupport "required"',
    ],
    [
      'a question is no object',
      { questions: { ok: z.string() } },
      'questions.ok: expected an object schema with properties',
    ],
  ])('%s', (_when, changes, message) => {
    expect(define(changes)).toThrow(message);
  });

  test.each(['wait', 'timeout', 'idempotency_key'])('an argument is called %s', (name) => {
    expect(define({ input: z.object({ [name]: z.string() }) })).toThrow(
      `input.${name}: the name is reserved`,
    );
  });

  test.each<[string, object]>([
    ['in a part of allOf', { allOf: [{ properties: { idempotency_key: {} } }] }],
    ['behind a reference', { $ref: '#/$defs/a', $defs: { a: { properties: { idempotency_key: {} } } } }],
    ['as a required one', { required: ['idempotency_key'] }],
    ['under a condition', { if: {}, then: { dependentSchemas: { a: { required: ['idempotency_key'] } } } }],
  ])('idempotency_key is declared %s', (_where, schema) => {
    expect(define({ input: { type: 'object', ...schema } })).toThrow(
      'input.idempotency_key: the name is reserved',
    );
  });

  test('idempotency_key is declared of a nested object: that is no argument of the call', () => {
    const nested = { type: 'object', properties: { idempotency_key: { type: 'string' } } };
    expect(define({ input: { type: 'object', properties: { payment: nested } } })).not.toThrow();
  });

  test('a schema comes from a library that gives no JSON Schema', () => {
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
