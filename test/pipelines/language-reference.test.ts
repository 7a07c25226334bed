/**
 * Files made from the language's own schema: pipelines/pipeline.schema.json for editors, and the tables in
 * docs/pipelines-language.md for readers. `LONGHAUL_RECORD=1` writes them again.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator, type Schema } from '@cfworker/json-schema';
import { beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { parsePipelineFile } from '../../pipelines/parse.js';
import { editorSchema } from '../../pipelines/schema.js';
import { generatedFiles } from './generated-files.js';
import { keyTables } from './key-tables.js';
import { JOBS, pipelineOf, withStep } from './language-support.js';

const REFERENCE = 'docs/pipelines-language.md';
const EXAMPLES = 'examples/pipelines';

const files = generatedFiles({
  ...{ schema: 'pipelines/pipeline.schema.json', page: REFERENCE, source: 'pipelines/schema.ts' },
  ...{ editorSchema, keyTables },
});
const written = () => files.writtenSchema() as Schema;

beforeAll(() => files.record());

test('the schema for editors is that of the language', () => {
  expect(written()).toEqual(editorSchema());
});

test('the tables of keys are those of the language', () => {
  expect(files.writtenTables()).toBe(keyTables());
});

test('every key has a description', () => {
  const undescribed = keyTables()
    .split('\n')
    .filter((line) => /\|\s*\|$/.test(line));
  expect(undescribed).toEqual([]);
});

test('the example of the reference is a pipeline', () => {
  const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(readFileSync(REFERENCE, 'utf8')) ?? [];
  expect(pipelineOf(example).jobs).not.toEqual({});
  expect(new Validator(written(), '7').validate(parse(example)).valid).toBe(true);
});

test('every shipped example is a pipeline, to the parser and to editors', () => {
  const examples = readdirSync(EXAMPLES).filter((name) => /\.ya?ml$/.test(name));
  expect(examples).not.toEqual([]);
  for (const file of examples) {
    const path = join(EXAMPLES, file);
    expect(parsePipelineFile(path).problems).toEqual([]);
    expect(new Validator(written(), '7').validate(parse(readFileSync(path, 'utf8'))).errors).toEqual([]);
  }
});

test.each([
  ['a small pipeline', JOBS, true],
  ['a key of GitHub Actions', `on: push\n${JOBS}`, false],
  ['a misspelt keyword', `inputs: { properties: { a: { items: { tipe: string } } } }\n${JOBS}`, false],
  ['a job with an odd name', 'jobs: { 1x: { steps: [{ run: x }] } }', false],
  ['a job without steps', 'jobs: { a: {} }', false],
  ['an unknown condition', withStep('run: x\nif: sometimes'), false],
  ['retry without attempts', withStep('run: x\nretry: { backoff: 1 }'), false],
  ['an output of nothing', `outputs: { a: build }\n${JOBS}`, false],
])('editors are right about %s', (_, text, isValid) => {
  expect(new Validator(written(), '7').validate(parse(text)).valid).toBe(isValid);
});
