/** Summaries of runs, without Temporal. */
import { describe, expect, test } from '@jest/globals';
import { summarizeCall, summaryOf } from '../../engine/start/summary.js';
import { defineTool } from '../../operations/tool/index.js';
import { parsePipeline } from '../../pipelines/parse.js';
import { pipelineTool } from '../../pipelines/tool.js';

const schema = {
  type: 'object',
  properties: {
    limit: { type: 'integer' },
    path: { type: 'string' },
    dry: { type: 'boolean' },
    columns: { type: 'array', items: { type: 'string' } },
    token: { type: 'string', writeOnly: true },
    login: { type: 'string', format: 'password' },
    key: { $ref: '#/$defs/key' },
    either: { anyOf: [{ type: 'null' }, { type: 'string', format: 'password' }] },
  },
  required: ['path'],
  allOf: [{ properties: { phrase: { type: 'string', writeOnly: true } } }],
  $defs: { key: { type: 'string', writeOnly: true } },
};
const summary = (args: Record<string, unknown>, title = 'Analyze') => summarizeCall({ title, schema, args });

describe('a summary', () => {
  test('has the title, then required arguments, then others', () => {
    expect(summary({ limit: 3, dry: false, path: 'a.csv', columns: ['x'] })).toBe(
      'Analyze: path=a.csv, limit=3, dry=false',
    );
    expect(summary({})).toBe('Analyze');
    expect(summary({ columns: ['x'], path: '' })).toBe('Analyze');
  });

  test('leaves out what the schema marks as secret or does not declare', () => {
    const secret = 'hunter2';
    const args = {
      token: secret,
      login: secret,
      key: secret,
      either: secret,
      phrase: secret,
      unknown: secret,
    };
    expect(summary({ ...args, path: 'a' })).toBe('Analyze: path=a');
  });

  test('cuts values over 40 characters, also those of two units', () => {
    expect(summary({ path: 'a'.repeat(40) })).toBe(`Analyze: path=${'a'.repeat(40)}`);
    expect(summary({ path: 'a'.repeat(41) })).toBe(`Analyze: path=${'a'.repeat(39)}…`);
    expect(summary({ path: '😀'.repeat(41) })).toBe(`Analyze: path=${'😀'.repeat(39)}…`);
  });

  test('is one line of at most 200 bytes, without links', () => {
    expect(summary({ path: 'a\nb\t c\u0000' })).toBe('Analyze: path=a b c ');
    expect(summary({ path: '![x](https://e.org)' })).toBe('Analyze: path=!(x)(https://e.org)');
    const long = summary({ path: '😀'.repeat(50) }, 'T'.repeat(100));
    expect(Buffer.byteLength(JSON.stringify(long))).toBeLessThanOrEqual(200);
    expect(long.endsWith('…')).toBe(true);
  });
});

test('summaries of tools have their titles', () => {
  const tool = defineTool({
    name: 'render',
    title: 'Render a film',
    description: { does: 'Renders.' },
    input: schema,
    estimate: { seconds: 1 },
  });
  expect(summaryOf(tool, { path: 'a', token: 'hunter2' })).toBe('Render a film: path=a');
});

test("summaries of pipelines leave out inputs named like the pipeline's secrets", () => {
  const { value } = parsePipeline(
    `
secrets: [SIGNING_KEY]
inputs: { properties: { signing_key: { type: string }, target: { type: string } } }
jobs: { a: { steps: [{ run: 'true' }] } }`,
    'deploy_site.yml',
  );
  expect(summaryOf(pipelineTool(value!), { signing_key: 'hunter2', target: 'prod' })).toBe(
    'deploy site: target=prod',
  );
});
