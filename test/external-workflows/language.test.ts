/** The file of a tool over an external workflow: its problems, with their places, and the tool that it gives. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { ToolService } from '../../external-workflows/service.js';
import type { Tool } from '../../operations/tool/index.js';
import { isToolFile, parseTool, parseToolFile } from '../../external-workflows/parse.js';
import { toolEditorSchema } from '../../external-workflows/schema.js';
import { generatedFiles } from '../pipelines/generated-files.js';
import { toolKeyTables } from '../pipelines/key-tables.js';
import { among, casesOf } from '../pipelines/language-support.js';

const WORKFLOW = 'workflow: { type: Refund, task-queue: refunds }';
const INPUT =
  'input: { properties: { order_id: { type: string }, amount: { type: number } }, required: [order_id] }';
const QUESTION = 'question: { query: pending, answer: { update: approve } }';

const problemsOf = (text: string) =>
  parseTool(text, 'tools/refund-order.yaml').problems.map(
    ({ line, column, message }) => `${line}:${column}: ${message}`,
  );
const toolOf = (text: string) => {
  const { value, problems } = parseTool(text, 'tools/refund-order.yaml');
  expect(problems).toEqual([]);
  return value as Tool;
};
const listed = (text: string, answer: unknown) => {
  const { value, problems } = parseTool(text, 'tools/payments.yaml');
  expect(problems).toEqual([]);
  return (value as ToolService).toolsOf(answer);
};

const files = generatedFiles({
  schema: 'external-workflows/tool.schema.json',
  page: 'docs/bring-your-own.md',
  source: 'external-workflows/schema.ts',
  editorSchema: toolEditorSchema,
  keyTables: toolKeyTables,
});
beforeAll(() => files.record());

test('the schema for editors and the tables of keys are those of the language; every key has a description', () => {
  expect(files.writtenSchema()).toEqual(toolEditorSchema());
  expect(files.writtenTables()).toBe(toolKeyTables());
  expect(
    toolKeyTables()
      .split('\n')
      .filter((line) => /\|\s*\|$/.test(line)),
  ).toEqual([]);
});

describe('a tool', () => {
  test('needs no more than a type and a task queue', () => {
    const tool = toolOf(WORKFLOW);
    expect(tool).toMatchObject({ name: 'refund_order', workflow: 'Refund', deadlineSeconds: 86_400 });
    expect(tool.external).toMatchObject({ type: 'Refund', taskQueue: 'refunds' });
    expect(tool.inputSchema).toMatchObject({ properties: {}, additionalProperties: false });
    expect(tool.toWorkflowArguments({})).toEqual([{}]);
  });

  test.each([
    ['in order', 'args: [amount, order_id]', { order_id: 'a', amount: 3 }, [3, 'a']],
    ['in order, the last missing', 'args: [order_id, amount]', { order_id: 'a' }, ['a']],
    ['none', 'args: []', { order_id: 'a' }, []],
    [
      'one object',
      'args: { id: order_id, wait: amount }',
      { order_id: 'a', amount: 3 },
      [{ id: 'a', wait: 3 }],
    ],
    ['an object among others', 'args: [order_id, { wait: amount }]', { order_id: 'a' }, ['a', {}]],
  ])('gives the workflow its arguments: %s', (_what, args, values, expected) => {
    expect(toolOf(`${WORKFLOW}\n${INPUT}\n${args}`).toWorkflowArguments(values)).toEqual(expected);
  });

  test('has the schema of a result that is no object as the field `result`', () => {
    expect(toolOf(`${WORKFLOW}\noutput: { type: string }`).outputSchema).toEqual({
      ...{ type: 'object', properties: { result: { type: 'string' } }, required: ['result'] },
    });
    expect(toolOf(`${WORKFLOW}\noutput: { properties: { a: {} } }`).outputSchema).toMatchObject({
      type: 'object',
    });
  });

  test('over a Nexus operation starts the workflow that calls it', () => {
    const nexus = { endpoint: 'payments', service: 'refunds', operation: 'refund' };
    const tool = toolOf(`nexus: ${JSON.stringify(nexus)}\n${INPUT}\nargs: { id: order_id }`);
    expect(tool).toMatchObject({ workflow: 'longhaul_nexus', external: undefined });
    expect(tool.toWorkflowArguments({ order_id: 'a' })).toEqual([{ ...nexus, input: { id: 'a' } }]);
  });

  test('with a question asks for an approval unless it has fields of its own', () => {
    expect(toolOf(`${WORKFLOW}\n${QUESTION}`).external!.question).toMatchObject({
      schema: { properties: { approved: { type: 'boolean' } }, required: ['approved'] },
      answer: { by: 'update', name: 'approve', args: 'object' },
    });
  });
});

const NEXUS = 'nexus: { endpoint: e, service: s, operation: o }';
const REFUSED = `
▸
=> expected a tool: a map with \`workflow\` or \`nexus\`; got an empty file
▸name: x
=> expected \`workflow\` or \`nexus\`
${WORKFLOW}
▸${NEXUS}
=> got both
${NEXUS}
▸${QUESTION}
=> belongs to tools over workflows
${NEXUS}
${INPUT}
args: ▸[order_id]
=> expected a map of fields and inputs
▸workflow: { type: Refund }
=> workflow.task-queue: missing; expected the name of a task queue
${WORKFLOW}
▸jobs: {}
=> jobs: unknown key; pipelines have jobs; their files belong in pipelines/
${WORKFLOW}
▸timeout-minute: 3
=> did you mean "timeout-minutes"?
${WORKFLOW}
timeout-minutes: ▸0
=> expected minutes above 0
${WORKFLOW}
${INPUT}
args: [▸order]
=> "order" is no input; known are order_id, amount
${WORKFLOW}
input: { properties: { ▸wait: {} } }
=> give it to the workflow by \`args: { wait: other_name }\`
${WORKFLOW}
input: { properties: { a: { pattern: ▸'(?=a)b' } } }
=> unsupported Perl syntax: \`(?=\`
workflow: { type: R, task-queue: r, id: ▸refund }
=> all operations would have the same ID
workflow: { type: R, task-queue: r, id: ▸'r-{amount}' }
${INPUT}
=> the input "amount" must be in \`input.required\`
workflow: { type: R, task-queue: r, id: ▸'r-{order}' }
${INPUT}
=> "order" is no input; known are order_id, amount
${WORKFLOW}
progress: ▸{ map: { progress: done } }
=> expected either \`query\` or \`heartbeats\`; got neither
${WORKFLOW}
progress: { query: a, map: ▸{} }
=> expected at least one of progress, total, stage and message
${WORKFLOW}
question: { query: a, answer: ▸{} }
=> expected either \`update\` or \`signal\`; got neither
${WORKFLOW}
question: { query: a, answer: { update: b, args: [▸yes] } }
=> "yes" is no answer field; known are approved
${WORKFLOW}
question: { query: a, fields: { properties: { x: ▸{ type: object } } }, answer: { update: b } }
=> clients show fields as a form
${WORKFLOW}
cancel: ▸terminate
=> expected \`request\`, or a map such as \`{ signal: cancelOrder }\`
`;

test.each(casesOf(REFUSED))('%j is refused at its place: %s', (text, message) =>
  among(text, `...${message}...`, problemsOf),
);

test('a pipe is no file of a tool: it is not read, which might block forever', () => {
  const pipe = join(mkdtempSync(join(tmpdir(), 'longhaul-pipe-')), 'tool.yaml');
  execFileSync('mkfifo', [pipe]);
  expect(isToolFile(pipe)).toBe(false);
  expect(parseToolFile(pipe).problems).toMatchObject([{ message: 'expected a file; got something else' }]);
});

describe('a Nexus service that lists its tools', () => {
  const FILE = 'nexus: { endpoint: e, service: refund-desk }\ntimeout-minutes: 5\n';
  const AMOUNT = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };
  // As Python's models write them.
  const REFUND = {
    ...{
      name: 'refund-desk_refund',
      title: null,
      description: ' Refunds. ',
      outputSchema: null,
      icons: null,
    },
    inputSchema: AMOUNT,
    annotations: { title: null, readOnlyHint: null, destructiveHint: true },
  };

  test.each([
    ['a list', [REFUND]],
    ['an object', { tools: [REFUND] }],
  ])('its answer is %s', (_form, answer) => {
    const { tools, problems } = listed(FILE, answer);
    expect(problems).toEqual([]);
    expect(tools).toMatchObject([
      {
        ...{ name: 'refund-desk_refund', workflow: 'longhaul_nexus', inputSchema: AMOUNT },
        ...{ summary: 'Refunds.', deadlineSeconds: 300, annotations: { destructiveHint: true } },
      },
    ]);
    expect(tools[0]!.toWorkflowArguments({ amount: 3 })).toEqual([
      { endpoint: 'e', service: 'refund-desk', operation: 'refund', input: { amount: 3 } },
    ]);
  });

  test('tools of other services of its endpoint, and tools without a schema', () => {
    const { tools } = listed(FILE, [{ name: 'mail_send_all', inputSchema: {} }]);
    expect(tools[0]!.toWorkflowArguments({})).toEqual([
      { endpoint: 'e', service: 'mail', operation: 'send_all', input: {} },
    ]);
    expect(tools[0]!.summary).toBe('Runs the operation send_all of mail.');
  });

  test.each([
    ['no list', 'no tools', 'expected a list of MCP tools'],
    ['a name without a service', [{ name: 'refund' }], 'expected a name such as refund-desk_refund'],
    ['a reserved argument', [{ name: 'a_b', inputSchema: { properties: { wait: {} } } }], 'wait'],
    ['a schema of no object', [{ name: 'a_b', inputSchema: { type: 'string' } }], 'got type "string"'],
    [
      'a pattern that is wrong',
      [{ name: 'a_b', inputSchema: { properties: { x: { pattern: '(' } } } }],
      'Unterminated group',
    ],
    ['no definition', [7, null], 'tool nothing: definition: '],
    [
      'a number for a schema',
      [{ name: 'a_b', inputSchema: { properties: { x: 5 } } }],
      'tool "a_b": input.properties.x: expected a schema: an object, true or false; got 5',
    ],
    [
      'a reference that leads nowhere',
      [{ name: 'a_b', outputSchema: { type: 'object', $ref: '#/$defs/x' } }],
      'tool "a_b": output.$ref: expected a reference within the schema',
    ],
  ])('an unusable answer is named, and the other tools are served: %s', (_what, answer, named) => {
    const tools = Array.isArray(answer) ? [...(answer as object[]), REFUND] : answer;
    const found = listed(FILE, tools);
    expect(found.problems.join()).toContain(named);
    expect(found.tools.map(({ name }) => name)).toEqual(Array.isArray(answer) ? [REFUND.name] : []);
  });

  test('keys of one tool have no place in its file', () => {
    expect(problemsOf(`name: x\n${FILE}input: { properties: {} }\n`)).toEqual([
      expect.stringMatching(/^1:1: name: belongs to one tool, with `nexus.operation`/),
      expect.stringMatching(/^4:1: input: belongs to one tool/),
    ]);
  });
});
