/** Values of outputs, and what a file shows of those that can't fit. */
import { expect, test } from '@jest/globals';
import { readOutput } from '../../pipelines/output-value.js';
import { casesOf, only, problemsOf } from './language-support.js';

/** An output of a job that runs for each item, or once. */
const each = (output: string) =>
  `inputs: { properties: { items: { type: array } } }\noutputs:\n  sizes: ${output}\njobs:\n  count: { for-each: items, outputs: [n], steps: [{ run: ./count }] }\n`;
const once = (output: string, steps = ['run: ./count']) =>
  `outputs:\n  total: ${output}\njobs:\n  count:\n    outputs: [n]\n    steps:\n${steps.map((step) => `      - ${step.replaceAll('\n', '\n        ')}\n`).join('')}`;
const writes = (line: string) => `run: |\n  make\n  ${line}`;

const REFUSED = `
${each('{ value: count.n, type: ▸array, items: { type: integer } }')}
=> outputs.sizes.type: expected the type of one item's value, such as \`integer\`; got "array"; the job "count" runs for each item, and the output is the list of their values; if each value is itself a list, write \`type: [array]\`
${once('{ value: count.n, ▸minimum: 1 }')}
=> outputs.total.minimum: has no effect on text, the default type of an output; add \`type: number\`
${once('{ value: count.n, enum: [▸1] }')}
=> outputs.total.enum[0]: expected string; got 1; the schema's type excludes it
${once('{ value: count.n, type: integer, minimum: ▸5, maximum: 4 }')}
=> outputs.total.minimum: expected at most \`maximum\`, 4; got 5: no value satisfies both
${once('{ value: count.n, type: number }', [writes('▸echo "n=three" >> "$LONGHAUL_OUTPUT"')])}
=> jobs.count.steps[0].run: writes n, which is output "total", declared as number: expected number, written as JSON; got "three"
`;
test.each(casesOf(REFUSED))('%j has one problem: %s', (text, message) => only(text, message));

test.each([
  ['a list of lists', each('{ value: count.n, type: [array], items: { type: integer } }')],
  ['a type for each value', each('{ value: count.n, type: integer, minimum: 1 }')],
  [
    'a text that a later step replaces',
    once('{ value: count.n, type: integer }', [
      'run: echo "n=none" >> "$LONGHAUL_OUTPUT"',
      'run: echo "n=$(./count)" >> "$LONGHAUL_OUTPUT"',
    ]),
  ],
  [
    'a text that is written in some case only',
    once('{ value: count.n, type: integer }', [
      writes('if ! ./count; then\n    echo "n=none" >> "$LONGHAUL_OUTPUT"\n    exit 1\n  fi'),
    ]),
  ],
  [
    'a text that is written after a failure',
    once('{ value: count.n, type: integer }', [
      'run: ./count',
      'if: failure\nrun: echo "n=none" >> "$LONGHAUL_OUTPUT"',
    ]),
  ],
  ['a text that fits', once('{ value: count.n, type: integer }', ['run: echo n=3 >> $LONGHAUL_OUTPUT'])],
])('%s is left alone', (_, text) => expect(problemsOf(text)).toEqual([]));

const VERSION = { type: 'string', pattern: '^v[0-9]+$' };
const POSITIVE = { type: 'integer', minimum: 1 };
const LIST = { type: 'array', items: { type: 'integer' } };
const OBJECT = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };

test.each<[schema: Record<string, unknown>, text: string, problem: string]>([
  [VERSION, '1.4', 'expected pattern ^v[0-9]+$; got "1.4"'],
  [{ type: 'string', enum: ['a', 'b'] }, 'c', 'expected one of "a", "b"; got "c"'],
  [{ type: 'number' }, '', 'expected number, written as JSON; got ""'],
  [{ type: 'number' }, '1e999', 'expected a number that JSON can hold'],
  [{ type: 'number' }, '9007199254740993', 'expected a number that keeps its digits'],
  [{ type: 'number' }, 'x'.repeat(500), `got "${'x'.repeat(76)}...`],
  [POSITIVE, '2.5', 'expected integer; got 2.5'],
  [POSITIVE, '0', 'expected minimum 1; got 0'],
  [{ type: 'boolean' }, '1', 'expected boolean; got 1'],
  [LIST, '7', 'expected array; got 7'],
  [LIST, '[1,"two"]', '[1]: expected integer; got "two"'],
  [LIST, '[1, 9007199254740993]', '1: expected a number that keeps its digits'],
  [OBJECT, '{"a":"x"}', 'a: expected integer; got "x"'],
  [{ type: 'null' }, '0', 'expected null; got 0'],
  [{ type: ['integer', 'null'] }, '"a"', 'expected integer or null; got "a"'],
])('as %j, the text %s does not fit', (schema, text, problem) => {
  const { problems, inexact } = readOutput(schema, text);
  expect([...problems, inexact].join('; ')).toContain(problem);
});

test.each<[schema: Record<string, unknown>, text: string, value: unknown]>([
  [VERSION, 'v14', 'v14'],
  [{ type: 'number' }, '-2.5e3', -2500],
  [{ type: 'boolean' }, 'false', false],
  [OBJECT, '{"a": 1, "b": null}', { a: 1, b: null }],
  [{ type: ['integer', 'null'] }, 'null', null],
])('as %j, the text %s is a value', (schema, text, value) => {
  expect(readOutput(schema, text)).toEqual({ value, problems: [] });
});
